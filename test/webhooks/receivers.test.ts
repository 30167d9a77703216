import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs/promises'
import net from 'node:net'
import path from 'node:path'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
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
  /** Where the work begins, and a line there by which it fails as long as the file `works` is missing. */
  work: string
  failing: string
}

/** The document's receiver in a language, run as a reader would. `change` changes its code before. */
async function startDocumented(
  t: Ends,
  { language, file, command }: Language,
  env: Record<string, string>,
  change = (code: string) => code,
) {
  const code = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(
    await fs.readFile(DOCUMENT, 'utf8'),
  )![1]!
  const place = await temporaryFolder(t)
  await fs.writeFile(path.join(place, file), change(code))
  const [program, ...args] = command(env['PORT']!)
  const child = spawn(program!, [...args, file], {
    cwd: place,
    env: { PATH: process.env['PATH'], TMPDIR: place, ...env },
  })
  atEnd(t, () => child.kill())
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk))
  return { output: () => output, place }
}

const answers = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' }).then(
    ({ status }) => status === 401,
    () => false,
  )

const runs = (program: string): boolean => spawnSync(program, ['--version']).status === 0

// a stranger's machine has Node, and perhaps the others
const LANGUAGES: Language[] = [
  {
    language: 'js',
    file: 'receiver.mjs',
    command: () => [process.execPath],
    work: 'async function unlock(order) {\n',
    failing: "  process.getBuiltinModule('fs').readFileSync('works')\n",
  },
  {
    language: 'python',
    file: 'receiver.py',
    command: () => ['python3'],
    work: 'def unlock(order):\n',
    failing: '    open("works").close()\n',
  },
  {
    language: 'php',
    file: 'receiver.php',
    command: (port: string) => ['php', '-S', `127.0.0.1:${port}`],
    work: 'function unlock(array $order): void\n{\n',
    failing: "    if (!file_exists(__DIR__ . '/works')) throw new Error('no database');\n",
  },
].filter(({ language, command }) => language === 'js' || runs(command('0')[0]!))

for (const receiver of LANGUAGES)
  test(`the receiver of docs/webhooks.md in ${receiver.language} takes what we sign once, and refuses the rest`, async (t) => {
    const shop = await startTestShop(t)
    const ann = await signedInSeller(shop)
    const port = await quietPort()
    const url = `http://127.0.0.1:${port}/hook`
    const { id, secret } = await newEndpoint(ann, url, ['order.paid'])
    const { output } = await startDocumented(t, receiver, { WEBHOOK_SECRET: secret, PORT: String(port) })
    await eventually(() => answers(port), Boolean)
    const productId = await shop.product()
    const { orderId } = await shop.paid({ productId })
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
    assert.deepEqual(lines(), [`unlock ${orderId} of ${productId} for bob@example.com`], output())
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

for (const receiver of LANGUAGES)
  test(`the receiver of docs/webhooks.md in ${receiver.language} does failed work when the event comes again, and then never again`, async (t) => {
    const port = await quietPort()
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
    const { output, place } = await startDocumented(
      t,
      receiver,
      { WEBHOOK_SECRET: secret, PORT: String(port) },
      (code) => {
        assert(code.includes(receiver.work), code)
        return code.replace(receiver.work, (work) => work + receiver.failing)
      },
    )
    await eventually(() => answers(port), Boolean)
    const order = { orderId: 'ord_a', email: 'bob@example.com', product: { id: 'prod_a' } }
    const body = JSON.stringify({ id: 'evt_1', type: 'order.paid', data: { order, sequence: 1 } })
    const send = async (): Promise<number> => {
      const at = new Date()
      const headers = {
        'webhook-id': 'evt_1',
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': new Webhook(secret).sign('evt_1', at, body),
      }
      return (await fetch(`http://127.0.0.1:${port}/hook`, { method: 'POST', headers, body })).status
    }
    const lines = () => [...output().matchAll(/unlock ord_.*/g)].map(([line]) => line)
    assert.deepEqual([await send(), await send()], [500, 500], output())
    assert.deepEqual(lines(), [])
    await fs.writeFile(path.join(place, 'works'), '')
    assert.deepEqual([await send(), await send()], [204, 204], output())
    await eventually(async () => lines(), (all) => all.length > 0) // oxfmt-ignore
    assert.deepEqual(lines(), ['unlock ord_a of prod_a for bob@example.com'])
  })
