/** Cuts a stream into chunks of `size` bytes and a smaller last one. */
export async function* inChunks(bytes: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Buffer> {
  let parts: Uint8Array[] = []
  let length = 0
  for await (const part of bytes) {
    for (let rest = part; rest.length > 0;) {
      const piece = rest.subarray(0, size - length)
      parts.push(piece)
      length += piece.length
      rest = rest.subarray(piece.length)
      if (length < size) continue
      yield Buffer.concat(parts)
      parts = []
      length = 0
    }
  }
  if (length > 0) yield Buffer.concat(parts)
}
