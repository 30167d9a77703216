import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'

// The baseline for moving files: it sends a file, and takes, hashes and flushes bytes, with nothing else. It ends with its parent.

const folder = process.argv[2]!

const server = http.createServer((request, response) => {
  const file = path.join(folder, path.basename(request.url!))
  if (request.method === 'GET') return void pipeline(createReadStream(file), response)
  const hash = createHash('sha256')
  const hashed = async function* (source: AsyncIterable<Buffer>) {
    for await (const chunk of source) {
      hash.update(chunk)
      yield chunk
    }
  }
  void pipeline(request, hashed, createWriteStream(file, { flush: true })).then(() => response.end(hash.digest('hex')))
})
process.once('disconnect', () => process.exit(0))
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
