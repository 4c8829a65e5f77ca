import { type Readable, Transform } from 'node:stream'

/**
 * The same bytes through a stream of its own: what reads them may fail without a fault of the source, which then can be
 * run off.
 * @param count is told of bytes that have come; false: these are too many
 */
export function metered(content: Readable, count: (bytes: number) => boolean, tooLarge: () => Error): Readable {
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (count(chunk.length)) done(null, chunk)
      else done(tooLarge())
    },
  })
  // Whoever reads it may begin after it has ended.
  meter.on('error', () => {})
  const end = () => content.readableEnded || meter.destroy(content.errored ?? new Error('the file is cut off'))
  if (content.destroyed) end()
  content.on('error', (error) => meter.destroy(error)).on('close', end)
  content.pipe(meter)
  return meter
}
