// docs/deploy.md from an empty server to the first sale: its commands are run as they stand there, under systemd and Caddy. Uses the ports
// 80, 443 and 4000, and Debian's packages and npm's.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import type net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { callbackify } from 'node:util'
import PostalMime from 'postal-mime'
import { SMTPServer, type SMTPServerSession } from 'smtp-server'
import { Agent } from 'undici'
import { type Server, startServer } from './debian-server.ts'
import { codeIn, putOnSale } from './shop.ts'
import { type Trust, buy, hasFiles, isAway, isReady } from './tls-shop.ts'

const [API, APP] = ['https://api.shop.example', 'https://pay.shop.example']
const OPERATOR = 'you@shop.example'
const BUYER = 'bob@example.com'
const ROOT_CERTIFICATE = 'var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt'
const READY_LOOKS = 240
const POLL_MS = 500

const repository = path.resolve(import.meta.dirname, '..')
const guide = fs.readFileSync(path.join(repository, 'docs/deploy.md'), 'utf8').split(/^# /m)[1]!
const blocks = [...guide.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block]) => block!)
const [program, settings, lines, service, doctor, , restart] = blocks as [string, string, string, string, string, string, string] // oxfmt-ignore

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'till-server-'))
const subjects: { to: string; subject: string }[] = []
const mail = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onData: callbackify(async (stream: Readable, { envelope }: SMTPServerSession) => {
    const { subject = '' } = await PostalMime.parse(Buffer.concat(await stream.toArray()))
    subjects.push({ to: envelope.rcptTo[0]!.address, subject })
  }),
})
let server: Server | undefined
try {
  await new Promise<void>((resolve) => mail.listen(0, '127.0.0.1', resolve))
  server = await startServer(folder, ['api.shop.example', 'pay.shop.example'])
  say('an empty server with systemd')
  await fromNothing(server)
  const trust = await overTls(server)
  await firstSale(server, trust)
  say('docs/deploy.md leads from an empty server to the first sale')
} finally {
  await server?.stop()
  mail.close()
  fs.rmSync(folder, { recursive: true, force: true })
}

/** Steps 1 to 3. The address of the repository is this one, the editor writes the lines of the guide, and mails go to this drill. */
async function fromNothing({ root, run }: Server): Promise<void> {
  const bare = path.join(root, 'srv/till.git')
  assert.equal(spawnSync('git', ['clone', '--quiet', '--bare', repository, bare]).status, 0)
  const [, address] = /git clone (\S+)/.exec(program)!
  fs.writeFileSync(
    path.join(root, 'root/.gitconfig'),
    `[url "/srv/till.git"]\n\tinsteadOf = ${address}\n[safe]\n\tdirectory = *\n`,
  )
  await run(program)
  say('1. the program is there')
  const { port } = mail.server.address() as net.AddressInfo
  const typed = lines.replace(/^SMTP_URL=.*$/m, `SMTP_URL=smtp://127.0.0.1:${port}`)
  assert.notEqual(typed, lines)
  await run(settings.replace(/^sudo nano (.*)$/m, `cat >> $1 <<'END'\n${typed}END`))
  say('2. it has its settings')
  await run(service)
  await until(() => isReady('http://127.0.0.1:4000'))
  say('3. the service runs under the hardened unit')
}

/** Certificates by an authority of Caddy's own, because no public one can reach the two names. */
async function overTls({ root, run }: Server): Promise<Trust> {
  const file = path.join(root, 'etc/caddy/Caddyfile')
  fs.writeFileSync(file, `{\n\tlocal_certs\n}\n${fs.readFileSync(file, 'utf8')}`)
  await run('sudo systemctl reload caddy')
  await until(() => isReady(API, { rejectUnauthorized: false }))
  const trust = { ca: fs.readFileSync(path.join(root, ROOT_CERTIFICATE), 'utf8') }
  for (const url of [API, APP]) assert(await isReady(url, trust), url)
  say('   Caddy serves both names')
  return trust
}

/** Steps 4 and 5, and the work of systemd: the service comes back after kill -9, and a stop leaves nothing running. */
async function firstSale({ run }: Server, trust: Trust): Promise<void> {
  const code = async () => codeIn(subjects.findLast(({ to }) => to === OPERATOR)?.subject)
  const connect = { ...trust, lookup: toThisMachine }
  const productId = await putOnSale({ apiUrl: API, appUrl: APP, email: OPERATOR, code, dispatcher: new Agent({ connect }) }) // oxfmt-ignore
  const order = await buy(API, productId, trust)
  await hasFiles(API, order, trust)
  await until(async () => subjects.some(({ to }) => to === BUYER))
  say('4. the operator sells a product; a buyer paid, has the files, and got the receipt')
  say((await run(`${doctor.trim()} || true`)).replace(/^/gm, '   '))
  await run(restart)
  await until(() => isReady(API, trust))
  await hasFiles(API, order, trust)
  await run('sudo systemctl kill --signal=KILL till')
  await until(() => isReady(API, trust))
  await hasFiles(API, order, trust)
  say('5. after a restart, and after kill -9, it is back, and the order is paid')
  await run('sudo systemctl stop till && ! pgrep --uid till')
  say('   a stop leaves no process')
}

type Found = (error: null, addresses: { address: string; family: number }[]) => void
function toThisMachine(_name: string, _options: object, found: Found): void {
  found(null, [{ address: '127.0.0.1', family: 4 }])
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let looks = 0; !(await holds().catch(isAway)); looks++) {
    assert(looks < READY_LOOKS, 'it is not there in time')
    await sleep(POLL_MS)
  }
}

function say(text: string): void {
  console.log(text)
}
