import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs/promises'
import net from 'node:net'
import path from 'node:path'
import { test } from 'node:test'
import { atEnd } from '../support/ends.ts'
import { newEndpoint, signedInSeller } from '../support/receiver.ts'
import { quietPort } from '../support/quiet-port.ts'
import { type Ends, eventually, startTestShop, temporaryFolder } from '../support/shop.ts'

const DOCUMENT = path.join(import.meta.dirname, '../../docs/webhooks.md')

interface Language {
  language: string
  file: string
  /** The program and its arguments before the file. */
  command: (port: string) => string[]
}

/** The document's receiver in a language, run as a reader would. */
async function startDocumented(t: Ends, { language, file, command }: Language, env: Record<string, string>) {
  const code = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(
    await fs.readFile(DOCUMENT, 'utf8'),
  )![1]!
  const place = await temporaryFolder(t)
  await fs.writeFile(path.join(place, file), code)
  const [program, ...args] = command(env['PORT']!)
  const child = spawn(program!, [...args, file], {
    cwd: place,
    env: { PATH: process.env['PATH'], TMPDIR: place, ...env },
  })
  atEnd(t, () => child.kill())
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk))
  return () => output
}

const answers = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' }).then(
    ({ status }) => status === 401,
    () => false,
  )

const runs = (program: string): boolean => spawnSync(program, ['--version']).status === 0

// a stranger's machine has Node, and perhaps the others
const LANGUAGES: Language[] = [
  { language: 'js', file: 'receiver.mjs', command: () => [process.execPath] },
  ...(runs('python3') ? [{ language: 'python', file: 'receiver.py', command: () => ['python3'] }] : []),
  ...(runs('php')
    ? [{ language: 'php', file: 'receiver.php', command: (port: string) => ['php', '-S', `127.0.0.1:${port}`] }]
    : []),
]

for (const receiver of LANGUAGES)
  test(`the receiver of docs/webhooks.md in ${receiver.language} takes what we sign once, and refuses the rest`, async (t) => {
    const shop = await startTestShop(t)
    const ann = await signedInSeller(shop)
    const port = await quietPort()
    const url = `http://127.0.0.1:${port}/hook`
    const { id, secret } = await newEndpoint(ann, url, ['order.paid'])
    const output = await startDocumented(t, receiver, { WEBHOOK_SECRET: secret, PORT: String(port) })
    await eventually(() => answers(port), Boolean)
    const { orderId } = await shop.paid()
    const lines = () => [...output().matchAll(/unlock .*/g)].map(([line]) => line)
    await eventually(
      async () => lines(),
      (all) => all.length > 0,
    )
    const again = await ann.call('POST', `/api/webhook-endpoints/${id}/replay`, { since: '2026-01-01', status: 'all' })
    assert.equal(again.status, 202)
    await ann.call('POST', `/api/webhook-endpoints/${id}/test`, { type: 'order.paid', weather: 'twice' })
    const deliveries = async () => (await ann.call('GET', `/api/webhook-endpoints/${id}/deliveries`)).body.items
    await eventually(deliveries, (items) => items.every(({ status }: { status: string }) => status === 'delivered'))
    assert.deepEqual(lines(), [`unlock ${orderId} for bob@example.com`], output())
    // another secret, and an old message
    const wrong = { 'webhook-id': 'evt_1', 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA v2,x' }
    assert.equal((await fetch(url, { method: 'POST', body: '{}', headers: wrong })).status, 401)
    // a sender that ends within its message, one that sends nothing, and a signature that is as long in characters and not in bytes
    const [cut, silent, odd] = [1, 2, 3].map(() => net.connect(port, '127.0.0.1'))
    for (const socket of [cut!, silent!]) atEnd(t, () => void socket.destroy())
    const head = `POST /hook HTTP/1.1\r\nhost: a\r\nwebhook-id: evt_2\r\nwebhook-timestamp: ${Math.floor(Date.now() / 1000)}\r\n`
    cut!.write(`${head}content-length: 5\r\n\r\n{`, () => cut!.destroy())
    odd!.end(
      `${head}webhook-signature: v1,${'A'.repeat(43)}\xff\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}`,
      'latin1',
    )
    odd!.on('error', () => {})
    await once(odd!.resume(), 'close')
    assert.equal((await fetch(url, { method: 'POST', body: '{}', headers: wrong })).status, 401, output())
    await ann.call('DELETE', `/api/webhook-endpoints/${id}`)
  })
