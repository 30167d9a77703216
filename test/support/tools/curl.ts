// As much of curl as the documents use, for a machine that has none. An option that it does not know ends it.
import fs from 'node:fs'
import http from 'node:http'
import { text } from 'node:stream/consumers'

interface Cookie {
  name: string
  value: string
}

const WITH_VALUE: Record<string, string> = {
  '-b': 'jarToRead',
  '-c': 'jarToWrite',
  '-o': 'output',
  '-D': 'headersTo',
  '-X': 'method',
  '-T': 'upload',
}
const SWITCHES = new Set(['-s', '-S', '-sS', '-sSL', '-L', '--fail-with-body'])

const options: Record<string, string> = {}
const headers: Record<string, string> = {}
let address = ''
let body: Buffer | undefined
let fails = false

const args = process.argv.slice(2)
while (args.length > 0) {
  const arg = args.shift()!
  const value = () => args.shift() ?? end(2, `curl: ${arg} needs a value`)
  if (arg === '-H') {
    const [name = '', ...rest] = value().split(':')
    headers[name.trim().toLowerCase()] = rest.join(':').trim()
  } else if (arg === '-d' || arg === '--data-binary') body = bytesOf(value())
  else if (WITH_VALUE[arg]) options[WITH_VALUE[arg]] = value()
  else if (SWITCHES.has(arg)) fails ||= arg === '--fail-with-body'
  else if (arg.startsWith('-')) end(2, `curl: ${arg} is not known to the stand-in in test/support/tools`)
  else address = arg
}
if (options['upload']) body = fs.readFileSync(options['upload'])

const jar = options['jarToRead'] && fs.existsSync(options['jarToRead']) ? readJar(options['jarToRead']) : []
let response = await send(address, options['method'] ?? (options['upload'] ? 'PUT' : body ? 'POST' : 'GET'))
while ([301, 302, 303, 307, 308].includes(response.statusCode!) && process.argv.some((arg) => /^-\w*L$/.test(arg))) {
  response.resume()
  response = await send(new URL(response.headers.location!, address).href, 'GET')
}
for (const line of response.headers['set-cookie'] ?? []) keep(line)
if (options['jarToWrite'])
  fs.writeFileSync(options['jarToWrite'], jar.map(({ name, value }) => `${name}\t${value}\n`).join(''))
if (options['headersTo'] === '-') {
  const lines = Object.entries(response.headers).map(([name, value]) => `${name}: ${String(value)}\r\n`)
  process.stdout.write(`HTTP/1.1 ${response.statusCode}\r\n${lines.join('')}\r\n`)
}
const answer = await text(response)
if (options['output']) fs.writeFileSync(options['output'], answer)
else process.stdout.write(answer)
if (fails && response.statusCode! >= 400) end(22, `curl: answered with ${response.statusCode}`)

function send(to: string, method: string): Promise<http.IncomingMessage> {
  const cookie = jar.map(({ name, value }) => `${name}=${value}`).join('; ')
  return new Promise((resolve, reject) => {
    const type = body && !headers['content-type'] ? { 'content-type': 'application/x-www-form-urlencoded' } : {}
    const request = http.request(to, { method, headers: { ...type, ...headers, ...(cookie && { cookie }) } }, resolve)
    request.on('error', reject).end(method === 'GET' ? undefined : body)
  })
}

function bytesOf(value: string): Buffer {
  return value.startsWith('@') ? fs.readFileSync(value.slice(1)) : Buffer.from(value)
}

function readJar(file: string): Cookie[] {
  const lines = fs.readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => ({ name: line.split('\t')[0]!, value: line.split('\t')[1]! }))
}

function keep(line: string): void {
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line)!
  const at = jar.findIndex((cookie) => cookie.name === name)
  if (at >= 0) jar.splice(at, 1)
  if (value !== '' && !/max-age=0\b/i.test(line)) jar.push({ name, value })
}

function end(code: number, why: string): never {
  process.stderr.write(`${why}\n`)
  process.exit(code)
}
