import { describe, expect, it } from 'vitest'
import { readPlain, readRaw } from '../../src/areas/notifications/replies/index.ts'
import { cutQuotes } from '../../src/areas/notifications/replies/quotes.ts'
import { replyMarker } from '../../src/chat/notifications/reply-address.ts'

const cases: [name: string, mail: string, own: string][] = [
  ['nothing but text', 'Hello\n\nsee you: tomorrow\n', 'Hello\n\nsee you: tomorrow'],
  [
    'Gmail',
    'Yes!\n\nOn Mon, Nov 23, 2026 at 9:14 AM Team chat <chat@example.com> wrote:\n\n> Bob: hi\n> more\n',
    'Yes!',
  ],
  [
    'an introduction over several lines',
    'Yes\n\nOn Mon, Nov 23, 2026 at 9:14 AM Team chat\n<reply+abc@example.com>\nwrote:\n\n> hi',
    'Yes',
  ],
  ['an introduction without >', 'Yes\n\nOn 23 Nov 2026, at 09:14, Team chat <c@example.com> wrote:\n\nBob: hi', 'Yes'],
  ['German', 'Ja\n\nAm Mo., 23. Nov. 2026 um 09:14 Uhr schrieb Team <c@example.com>:\n\n> hi', 'Ja'],
  ['French', 'Oui\r\n\r\nLe lun. 23 nov. 2026 à 09:14, Team <c@example.com> a écrit :\r\n\r\n> hi\r\n', 'Oui'],
  ['Spanish', 'Sí\n\nEl lun, 23 nov 2026 a las 9:14, Team (<c@example.com>) escribió:\n\n> hi', 'Sí'],
  ['Japanese', 'はい\n\n2026年11月23日(月) 9:14 Team <c@example.com>:\n\n> hi', 'はい'],
  ['Outlook', 'Fine\n\n________________________________\nFrom: Team chat <c@example.com>\nSent: Monday\n\nhi', 'Fine'],
  ['older Outlook', 'Fine\n\n-----Original Message-----\nFrom: Team chat\nhi', 'Fine'],
  ['German Outlook', 'Gut\n\nVon: Team <c@example.com>\nGesendet: Montag\nAn: Bob\n\nhi', 'Gut'],
  ['the line of our own e-mails', `Yes\n\n> ${replyMarker}\n> hi`, 'Yes'],
  ['the line of our own e-mails without >', `Yes\n${replyMarker}\nhi\nho`, 'Yes'],
  ['an answer below', 'On Nov 23, 2026, Team wrote:\n> hi\n> there\n\nBelow', 'Below'],
  ['answers between the lines', 'On Nov 23, 2026, Team wrote:\n> one?\nyes\n> two?\nno', 'yes\nno'],
  ['words before a quote', 'My answers:\n> one?\nyes', 'My answers:\nyes'],
  [
    'text above an introduction without a blank line',
    'See you at 5\nOn Nov 23, 2026, Team wrote:\n> hi',
    'See you at 5',
  ],
  ['a signature', 'Yes\n\n-- \nBob\nSales', 'Yes'],
  ['a signature of a phone', 'Yes\n\nSent from my iPhone\n', 'Yes'],
  ['nothing of their own', '\n> hi\n> ho\n', ''],
  ['a list', 'To: Bob\nDate: Friday', 'To: Bob\nDate: Friday'],
]

describe('the text of a reply', () => {
  it.each(cases)('is left of %s', (_name, mail, own) => {
    expect(cutQuotes(mail)).toBe(own)
  })

  it('is found in time linear in the length of the e-mail, whatever is in it', () => {
    const long = 100_000
    const hostile = ['a:\n', '\n', '>', 'On 1 ', '1 wrote ', '1 schrieb ', 'From: a\n', '_', '- ', 'On 1\n:\n', ':\n\n']
    for (const part of hostile) {
      for (const end of ['', ':', '\nwrote:']) {
        const mail = part.repeat(long / part.length) + end
        expect(cutQuotes(mail).length).toBeLessThanOrEqual(mail.length)
      }
    }
  })

  it('is made of the HTML where there is no other, without what it quotes', () => {
    const html = `<html><head><style>p { color: red }</style><script>alert(1)</script></head><body><p>Yes &amp; no</p>
      <ul><li>one</li></ul><div class="gmail_quote">On Monday Team wrote:<blockquote>hi</blockquote></div></body></html>`
    const { text } = readPlain({ to: 'reply@example.com', html })
    expect(cutQuotes(text).replaceAll(/\s+/g, ' ')).toBe('Yes & no * one')
    expect(readPlain({ to: 'reply@example.com', html: '<div>'.repeat(20_000) }).text.length).toBeLessThan(100)
  })
})

describe('an e-mail as it comes', () => {
  const raw = (headers: string, body = 'Hi') => readRaw(Buffer.from(`${headers}\r\n\r\n${body}`))

  it('is read with its charset, encodings and recipients', async () => {
    const mail = await raw(
      [
        ...['Delivered-To: reply+one@example.com', 'To: "Team, the" <reply+two@example.com>, x@example.com'],
        ...['Cc: reply+three@example.com', 'Message-ID: <m1@example.org>', 'MIME-Version: 1.0'],
        ...['Content-Type: multipart/alternative; boundary=b'],
      ].join('\r\n'),
      [
        ...['--b', 'Content-Type: text/plain; charset=iso-8859-1', 'Content-Transfer-Encoding: quoted-printable', ''],
        ...['Gr=FC=DFe', '--b', 'Content-Type: text/html', '', '<p>other</p>', '--b--'],
      ].join('\r\n'),
    )
    expect(mail).toMatchObject({ messageId: '<m1@example.org>', isAutomatic: false })
    expect(mail.text.trim()).toBe('Grüße')
    expect(mail.recipients).toEqual([
      'reply+one@example.com',
      'reply+two@example.com',
      'x@example.com',
      'reply+three@example.com',
    ])
  })

  it('has the characters of windows-1252', async () => {
    const head = 'To: reply+one@example.com\r\nContent-Type: text/plain; charset=windows-1252\r\n\r\n'
    const mail = await readRaw(Buffer.concat([Buffer.from(head), Buffer.from([0x93, 0x35, 0x80, 0x94, 0xfc])]))
    expect(mail.text.trim()).toBe('“5€”ü')
  })

  it.each([
    ['Auto-Submitted: auto-replied'],
    ['Auto-Submitted: auto-generated; x=y'],
    ['Precedence: bulk'],
    ['Return-Path: <>'],
    ['X-Autoreply: yes'],
    ['Content-Type: multipart/report; report-type=delivery-status; boundary=b'],
  ])('is of a program with %s', async (header) => {
    expect((await raw(`To: reply+one@example.com\r\n${header}`)).isAutomatic).toBe(true)
  })

  it.each([['Auto-Submitted: no'], ['Precedence: normal'], ['Return-Path: <bob@example.com>']])(
    'is of a person with %s',
    async (header) => {
      expect((await raw(`To: reply+one@example.com\r\n${header}`)).isAutomatic).toBe(false)
    },
  )

  it('is refused where it is nested without end', async () => {
    const parts = Array.from(
      { length: 100 },
      (_, i) => `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`,
    )
    await expect(readRaw(Buffer.from(parts.join('')))).rejects.toMatchObject({ status: 400 })
  })
})
