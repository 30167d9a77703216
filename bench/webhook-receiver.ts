import http from 'node:http'
import type { AddressInfo } from 'node:net'

// The programs of sellers: one that takes everything at once, and under /hang one that never answers. It ends with its parent.

const server = http.createServer((request, response) => {
  if (request.url === '/hang') return void request.resume()
  request.resume().on('end', () => response.writeHead(204).end())
})
process.once('disconnect', () => process.exit(0))
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
