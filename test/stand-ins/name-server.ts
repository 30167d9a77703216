import dgram from 'node:dgram'
import net from 'node:net'
import ipaddr from 'ipaddr.js'
import { atEnd } from '../support/ends.ts'
import type { Ends } from '../support/shop.ts'

// RFC 1035: https://www.rfc-editor.org/rfc/rfc1035#section-4

const HEADER_BYTES = 12
const AAAA = 28
const INTERNET = 1
const SECONDS_TO_KEEP = 60
const NO_SUCH_NAME = 3
const REFUSED = 5

/**
 * A name server for names that a stranger chose. `names` has the addresses of each name; another name does not exist. A name that ends in
 * `.silent` gets no answer before `speak()`, and the server refuses one that ends in `.refused`.
 */
export async function startNameServer(t: Ends, names: Record<string, string[]>) {
  const socket = dgram.createSocket('udp4')
  const held: (() => void)[] = []
  socket.on('message', (query, { port }) => {
    const { name, type, end } = questionOf(query)
    const addresses = names[name]
    const records = (addresses ?? [])
      .filter((address) => net.isIPv6(address) === (type === AAAA))
      .map((address) => recordOf(type, address))
    const header = Buffer.from(query.subarray(0, HEADER_BYTES))
    // an answer of a server that asks others, for a client that wants that
    header.writeUInt16BE(0x8180 | (addresses ? 0 : name.endsWith('.refused') ? REFUSED : NO_SUCH_NAME), 2)
    for (const [at, count] of [1, records.length, 0, 0].entries()) header.writeUInt16BE(count, 4 + 2 * at)
    const answer = Buffer.concat([header, query.subarray(HEADER_BYTES, end), ...records])
    const reply = () => socket.send(answer, port, '127.0.0.1')
    if (name.endsWith('.silent')) held.push(reply)
    else reply()
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  atEnd(t, () => void socket.close())
  return {
    address: `127.0.0.1:${socket.address().port}`,
    held,
    speak: () => held.splice(0).forEach((reply) => reply()),
  }
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function recordOf(type: number, address: string): Buffer {
  const bytes = ipaddr.parse(address).toByteArray()
  const record = Buffer.alloc(HEADER_BYTES)
  // the name is that of the question
  record.writeUInt16BE(0xc000 | HEADER_BYTES, 0)
  record.writeUInt16BE(type, 2)
  record.writeUInt16BE(INTERNET, 4)
  record.writeUInt32BE(SECONDS_TO_KEEP, 6)
  record.writeUInt16BE(bytes.length, 10)
  return Buffer.concat([record, Buffer.from(bytes)])
}
