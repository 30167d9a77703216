import { once } from 'node:events'
import { Session } from 'node:inspector/promises'
import module from 'node:module'
import net from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

// half of the time to start is reading the same code anew
module.enableCompileCache()
const { buildApp } = await import('./app.ts')
const { ConfigError, readConfig } = await import('./config.ts')
const { connect } = await import('./kit/database.ts')
const { startEmbedded } = await import('./kit/embedded.ts')
const { errorForLog, newLog } = await import('./kit/log.ts')

/** Connections for what buyers and sellers ask, and for what must get through beside them. */
const MAIN_CONNECTIONS = 16
const RESERVED_CONNECTIONS = 4
/** What runs may finish for so long after a signal. */
const CLOSE_TIMEOUT_MS = 15_000
const GIVE_BACK_AFTER_MS = 3_000

const config = orExit(() => readConfig())
const log = newLog(config.logLevel)
const port = await takePort(config.port, config.host)
const embedded = config.databaseUrl
  ? undefined
  : await startEmbedded({ dir: path.join(config.dataDir, 'postgres'), name: 'till', log: (line) => log.info(line) })
const database = { connectionString: config.databaseUrl ?? embedded!.url }
const onError = (error: Error) => log.warn(errorForLog(error), 'a database connection was lost')
const main = connect(database, { connections: MAIN_CONNECTIONS, onError })
const reserved = connect(database, { connections: RESERVED_CONNECTIONS, onError })

const ownUrl = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`
  .replace('//0.0.0.0:', '//127.0.0.1:')
  .replace('//[::]:', '//[::1]:')
const baseUrl = config.baseUrl ?? ownUrl
const appUrl = config.appUrl ?? baseUrl
const app = await buildApp({
  config,
  log,
  main,
  reserved,
  database,
  ownUrl: () => ownUrl,
  baseUrl,
  appUrl,
})
let closing = false
async function close(why: string, code = 0): Promise<void> {
  if (closing) return
  closing = true
  log.info({ why }, 'closing')
  const finished = (async () => {
    await app.close()
    await Promise.all([main.close(), reserved.close()])
    await embedded?.stop()
  })()
  const failed = finished.catch((error) => log.error(errorForLog(error), 'closing failed'))
  const overtime = sleep(CLOSE_TIMEOUT_MS).then(() => log.warn('closing was cut short: something still ran'))
  await Promise.race([failed, overtime])
  process.exit(code)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void close(signal))
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => {
    log.fatal(errorForLog(error), event)
    void close(event, 1)
  })
}
await app.server.listen({ port, host: config.host })
announce()
setTimeout(() => void giveBackMemory(), GIVE_BACK_AFTER_MS).unref()

// npm starts us through a shell that passes no signal on: when that shell is gone, so should we be
if (config.startedByNpm) {
  const parent = process.ppid
  setInterval(() => process.ppid !== parent && void close('npm ended'), 500).unref()
}

/** Starting needs memory that running does not: one collection returns some 40 MB, which V8 would otherwise keep for good. */
async function giveBackMemory(): Promise<void> {
  const session = new Session()
  session.connect()
  await session.post('HeapProfiler.collectGarbage')
  session.disconnect()
}

function announce(): void {
  const demo = app.demoIds.map(
    (id, at) => `  ${at === 0 ? 'buy the demo  ' : 'in dollars    '} ${appUrl}/pay/?product=${id}`,
  )
  const outbox = config.smtpUrl || config.isPublic ? [] : [`  mails sent     ${appUrl}/outbox/`]
  const lines = [
    '',
    `Till is ready.`,
    `  home           ${appUrl}/`,
    ...demo,
    `  sign in        ${appUrl}/sign-in/`,
    ...outbox,
    `  the API        ${baseUrl}/api/docs`,
    '',
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

function orExit<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}

/** The port to listen on, any free one for 0. Tried before anything is started: a second start must not disturb the first. */
async function takePort(port: number, host: string): Promise<number> {
  const probe = net.createServer().listen(port, host)
  try {
    await once(probe, 'listening')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const hint = code === 'EADDRINUSE' ? ': is another service there?' : ''
    process.stderr.write(`PORT ${port} of HOST ${host} cannot be listened on (${code})${hint}\n`)
    process.exit(1)
  }
  const { port: taken } = probe.address() as net.AddressInfo
  probe.close()
  await once(probe, 'close')
  return taken
}
