/** A piece of text, gzipped. */
export async function gzip(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const packed = new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))
  return new Uint8Array(await new Response(packed).arrayBuffer())
}

/**
 * Gzipped pieces as one gzipped file: browsers do not read files of several. It is made piece by piece, and kept on disk where it is
 * large.
 */
export function join(pieces: AsyncIterator<Uint8Array<ArrayBuffer>>): Promise<Blob> {
  const plain = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const { done, value } = await pieces.next()
      if (done) return controller.close()
      const unpacked = new Blob([value]).stream().pipeThrough(new DecompressionStream('gzip'))
      controller.enqueue(new Uint8Array(await new Response(unpacked).arrayBuffer()))
    },
  })
  return new Response(plain.pipeThrough(new CompressionStream('gzip'))).blob()
}
