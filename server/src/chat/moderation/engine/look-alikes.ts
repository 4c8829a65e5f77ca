/*
 * Letters that look like a Latin one, from confusables.txt of Unicode TR39 (Unicode License v3): those of one letter whose
 * skeleton is one letter from A to Z, that NFKD does not already take there, and that belong to no script that is written
 * without blanks or without case and far from Latin. Capital I and what looks like it stand under i. Small capitals, the
 * letters that look like them, ə and ɛ, which the table lacks, are added.
 */
const shapes: Readonly<Record<string, string>> = {
  a: 'ɑαаΑАᎪᗅꓮ𖽀𐊠ᴀ',
  b: 'ƄЬᏏᑲᖯꞴΒВᏴᗷꓐ𐊂𐊡𐌁ɓᑳƃƂБƀҍҌѣѢʙв',
  c: 'ϲϹᴄⲥсꮯ𐐽ⲤСᏟꓚ𐊢𐌂𐐕𐔜ȼҫҪ',
  d: 'ԁᏧᑯꓒᎠᗞᗪꓓɗɖƌđĐÐƉᴅ',
  e: 'ꬲеҽΕЕⴹᎬꓰ𑢦𑢮𐊆ɇɆҿᴇəɛ',
  f: 'ꬵꞙẝքꞘϜᖴꓝ𑣂𑢢𐊇𐊥𐔥ƒƑᵮ',
  g: 'ɡᶃƍցԌᏀᏳꓖɠǥǤɢ',
  h: 'һհᏂΗⲎНᎻᕼꓧ𐋏ɦꚕᏲⱧҢħћĦӉӇʜн',
  i: 'ıɪɩιіꙇӏꭵᎥ𑣃ɨᵻᵼƖǀΙⲒІӀⵏᛁꓲ𖼨𐊊𐌉',
  j: 'ϳјꞲͿЈᎫᒍꓙɉɈᴊ',
  k: 'ΚⲔКᏦᛕꓗ𐔘ƙⱩҚꝀҞᴋкκĸ',
  l: 'ⳐᏞᒪꓡ𖼖𑢣𑢲𐐛𐔦łŁɭƗƚɫʟ',
  m: 'ΜϺⲘМᎷᗰᛖꓟ𐊰𐌑Ӎᴍм',
  n: 'ոռΝⲚꓠ𐔓ɳƞηƝᵰɴ',
  o: 'ᴏᴑꬽοσⲟоჿօ𐓪𑣈𑣗𐐬ΟⲞОՕⵔ𐓂ꓳ𑢵𐊒𐊫𐐄𐔖øꬾØⵁɵꝋөѳꮎꮻƟꝊθΘӨѲⴱᎾᏫꭴ',
  p: 'ρⲣрΡⲢРᏢᑭꓑ𐊕ƥᵽᴘ',
  q: 'ԛգզⵕʠ',
  r: 'ꭇꭈᴦⲅгꮁƦᎡᏒ𐒴ᖇꓣ𖼵ɽɼɍғᵲʀ',
  s: 'ꜱƽѕꮪ𑣁𐑈ЅՏᏕᏚꓢ𖼺𐊖𐐠ʂᵴ',
  t: 'ΤⲦТᎢꓔ𖼊𑢼𐊗𐊱𐌕ƭȾƮҬŧŦᵵᴛтτ',
  u: 'ꞟᴜꭎꭒʋυս𐓶𑣘Ս𐓎ᑌꓴ𖽂𑢸ᵾꮜɄᏌ',
  v: 'ᴠνѵ𑜆ꮩ𑣀ѴⴸᏙᐯꛟꓦ𖼈𑢠𐔝',
  w: 'ɯᴡѡԝա𑜊𑜎𑜏ꮃԜᎳᏔꓪѽ𑓅ꝡ',
  x: 'хᕁᕽꞳΧⲬХⵝᚷꓫ𐊐𐊴𐌗𐔧Ҳ',
  y: 'ɣᶌʏỿꭚγуүყ𑣜ΥⲨУҮᎩᎽꓬ𖽃𑢤𐊲ƴɏұɎҰ',
  z: 'ᴢꮓ𑣄ΖᏃꓜ𑢩ʐƶƵȥȤᵶ',
}

/** The Latin letter that each looks like, by code point. */
export const latinLookAlikes: ReadonlyMap<number, number> = new Map(
  Object.entries(shapes).flatMap(([letter, others]) =>
    [...others].map((other) => [other.codePointAt(0)!, letter.charCodeAt(0)] as const),
  ),
)

/** The Cyrillic letter that a Latin one, or a digit, is written for in a Cyrillic word. */
export const cyrillicLookAlikes: ReadonlyMap<number, number> = new Map(
  Array.from('aа bв cс eе hн kк mм oо pр tт xх yу 0о 3з 4ч 6б'.split(' '), ([one, other]) => [
    one!.charCodeAt(0),
    other!.charCodeAt(0),
  ]),
)
