import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { pipeline, Readable } from 'node:stream'
import { createGunzip, createGzip, type Gzip } from 'node:zlib'
import type { Pace } from '../media/steps.ts'
import type { FileStore } from '../media/storage.ts'
import { inBackup, type PartEntry } from './format.ts'
import { fullPace } from './pace.ts'

/** Of rows, unpacked: what is packed by itself, and by another thread. */
const memberBytes = 1 << 20
/** Packed: what is kept in memory until it is written. */
const partBytes = 8 << 20
/** Packed: what a thread gives at once. More than it makes of what it is given while others wait. */
const packedAtOnce = 64 << 10

interface Member {
  readonly packed: Buffer
  readonly rows: number
  readonly rawBytes: number
}

interface PartsOptions {
  /** Members that are packed at the same time. */
  readonly packers?: number
  readonly pace?: Pace
  readonly onPart?: (part: PartEntry) => void
}

/**
 * Writes lines into files of some megabytes of a backup, packed, each with its checksum.
 * @param nameOf of a file, by its number from 1
 * @param lines in pieces of any size; the last ends with a line end
 */
export async function writeParts(
  destination: FileStore,
  id: string,
  nameOf: (number: number) => string,
  lines: AsyncIterable<Buffer>,
  { packers = 1, pace = fullPace, onPart = () => {} }: PartsOptions = {},
): Promise<PartEntry[]> {
  const parts: PartEntry[] = []
  let members: Member[] = []
  const finish = async () => {
    const file = nameOf(parts.length + 1)
    const part = await writePart(destination, id, file, members)
    parts.push(part)
    onPart(part)
    members = []
  }
  for await (const member of packed(wholeLines(lines), packers, pace)) {
    members.push(member)
    if (sum(members, ({ packed }) => packed.length) >= partBytes) await finish()
  }
  if (members.length > 0) await finish()
  return parts
}

async function writePart(
  destination: FileStore,
  id: string,
  file: string,
  members: readonly Member[],
): Promise<PartEntry> {
  const hash = createHash('sha256')
  for (const { packed } of members) hash.update(packed)
  const content = Readable.from(members.map(({ packed }) => packed))
  const bytes = await destination.write(inBackup(id, file), content, 'application/gzip')
  return {
    ...{ file, bytes },
    sha256: hash.digest('hex'),
    rows: sum(members, ({ rows }) => rows),
    rawBytes: sum(members, ({ rawBytes }) => rawBytes),
  }
}

/** The lines of a file of a backup. */
export async function readPart(
  destination: FileStore,
  id: string,
  { file }: Pick<PartEntry, 'file'>,
): Promise<Readable> {
  // Whoever reads hears of what goes wrong.
  return pipeline(await destination.read(inBackup(id, file), undefined), createGunzip(), () => {})
}

/** Packs blocks, some side by side, and gives them in their order. */
async function* packed(blocks: AsyncIterable<Buffer>, atOnce: number, pace: Pace): AsyncGenerator<Member> {
  const waiting: Promise<Member>[] = []
  try {
    for await (const block of blocks) {
      waiting.push(pack(block, pace))
      if (waiting.length >= atOnce) yield (await waiting.shift()) as Member
    }
    while (waiting.length > 0) yield (await waiting.shift()) as Member
  } finally {
    await Promise.allSettled(waiting)
  }
}

async function pack(block: Buffer, pace: Pace): Promise<Member> {
  const gzip = createGzip({ level: 1, chunkSize: packedAtOnce })
  const chunks: Buffer[] = []
  gzip.on('data', (chunk: Buffer) => chunks.push(chunk))
  for (let from = 0; from < block.length; ) {
    const piece = block.subarray(from, from + pace.bytesAtOnce)
    from += piece.length
    await pace.step(() => packMore(gzip, piece, from === block.length))
  }
  return { packed: Buffer.concat(chunks), rows: countLines(block), rawBytes: block.length }
}

async function packMore(gzip: Gzip, piece: Buffer, isLast: boolean): Promise<void> {
  if (isLast) gzip.end(piece)
  else gzip.write(piece)
  await once(gzip, isLast ? 'end' : 'drain')
}

/** Blocks of about `memberBytes` that end where a line does. */
async function* wholeLines(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  let bytes = 0
  for await (const piece of pieces) {
    held.push(piece)
    bytes += piece.length
    if (bytes < memberBytes) continue
    const end = piece.lastIndexOf(lineEnd)
    if (end < 0) continue
    const rest = piece.subarray(end + 1)
    held[held.length - 1] = piece.subarray(0, end + 1)
    yield Buffer.concat(held)
    held = rest.length > 0 ? [rest] : []
    bytes = rest.length
  }
  if (bytes > 0) yield Buffer.concat(held)
}

const lineEnd = 0x0a

function countLines(block: Buffer): number {
  let count = 0
  for (let at = block.indexOf(lineEnd); at >= 0; at = block.indexOf(lineEnd, at + 1)) count++
  return count
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0)
}
