import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { watch } from '../bench/children.ts'
import { say, until } from './crowd.ts'
import { quietPort } from '../test/support/quiet-port.ts'
import { debian } from './haproxy.ts'

const BIN = '/usr/lib/postgresql'
const NODES = 3
/** The primary keeps its lease for this long after it last renewed it. Then a standby takes over. Patroni allows no less. */
const TTL_SECONDS = 20

export interface Node {
  name: string
  port: number
  /** The port of its Patroni's REST API. */
  patroni: number
  /** kill -9 of Patroni and PostgreSQL, as when the machine is lost. */
  kill(): void
  start(): void
}

export interface Cluster {
  nodes: Node[]
  password: string
  primary(): Promise<Node | undefined>
  /** Waits until there are a primary and a synchronous standby, and `standbys` in all stream. */
  whole(standbys: number): Promise<void>
  end(): void
}

/** Three nodes of Debian's PostgreSQL with Patroni and one etcd, on loopback addresses, in `folder`. */
export async function startCluster(folder: string): Promise<Cluster> {
  debian('etcd', 'etcd-server')
  debian('patroni', 'patroni')
  const version =
    fs.existsSync(BIN) &&
    fs
      .readdirSync(BIN)
      .sort((a, b) => Number(a) - Number(b))
      .at(-1)
  if (!version) throw new Error('There is no PostgreSQL here: apt-get install postgresql')
  const account = accountOf('postgres')
  const [etcd, peers, password] = [await quietPort(), await quietPort(), 'a password of the drill']
  const urls = [`http://127.0.0.1:${etcd}`, `http://127.0.0.1:${peers}`] as const
  watch(spawn('etcd', ['--data-dir', path.join(folder, 'etcd'), '--listen-client-urls', urls[0], '--advertise-client-urls', urls[0], '--listen-peer-urls', urls[1], '--initial-advertise-peer-urls', urls[1], '--initial-cluster', `default=${urls[1]}`, '--log-level', 'error'], { stdio: 'ignore' })) // oxfmt-ignore
  const nodes: Node[] = []
  for (let n = 1; n <= NODES; n++) {
    const home = path.join(folder, `node${n}`)
    fs.mkdirSync(home)
    fs.chownSync(home, account.uid, account.gid)
    const node = { name: `node${n}`, port: await quietPort(), patroni: await quietPort() }
    const file = path.join(home, 'patroni.json')
    fs.writeFileSync(
      file,
      JSON.stringify(settingsOf(node, { home, etcd, password, bin: path.join(BIN, version, 'bin') })),
    )
    let patroni: ReturnType<typeof spawn> | undefined
    const start = () => {
      const log = fs.openSync(path.join(home, 'patroni.log'), 'a')
      // Debian's modules belong to Debian's Python
      patroni = watch(spawn('/usr/bin/python3', ['/usr/bin/patroni', file], { ...account, cwd: home, stdio: ['ignore', log, log], env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8' } })) // oxfmt-ignore
      fs.closeSync(log)
    }
    nodes.push({
      ...node,
      start,
      kill() {
        patroni?.kill('SIGKILL')
        killServer(path.join(home, 'data'))
      },
    })
    start()
  }
  return {
    nodes,
    password,
    async primary() {
      const name = (await membersOf(nodes)).find(({ role }) => role === 'leader' || role === 'master')?.name
      return nodes.find((node) => node.name === name)
    },
    async whole(standbys) {
      await until(`${standbys} standbys, one of them synchronous`, async () => {
        const all = await membersOf(nodes)
        const standing = all.filter(
          ({ role, state }) => /standby|replica/.test(role) && /running|streaming/.test(state),
        )
        return all.some(({ role }) => role === 'sync_standby') && standing.length >= standbys
      })
    },
    end() {
      for (const node of nodes) node.kill()
      say('the cluster has ended')
    },
  }
}

function settingsOf(
  { name, port, patroni }: { name: string; port: number; patroni: number },
  { home, etcd, password, bin }: { home: string; etcd: number; password: string; bin: string },
): object {
  const own = '127.0.0.1'
  return {
    scope: 'till',
    name,
    restapi: { listen: `${own}:${patroni}`, connect_address: `${own}:${patroni}` },
    etcd3: { host: `${own}:${etcd}` },
    bootstrap: {
      dcs: {
        ttl: TTL_SECONDS,
        loop_wait: 4,
        retry_timeout: 5,
        // a commit is acknowledged when a standby has it too, and only such a standby can become the primary
        synchronous_mode: true,
        synchronous_mode_strict: true,
        postgresql: {
          use_pg_rewind: true,
          parameters: { max_connections: 100, wal_level: 'replica', hot_standby: 'on' },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
    },
    postgresql: {
      listen: `${own}:${port}`,
      connect_address: `${own}:${port}`,
      data_dir: path.join(home, 'data'),
      bin_dir: bin,
      pgpass: path.join(home, 'pgpass'),
      pg_hba: [
        'local all all trust',
        'host all all 127.0.0.1/32 scram-sha-256',
        'host replication all 127.0.0.1/32 scram-sha-256',
      ],
      authentication: {
        superuser: { username: 'postgres', password },
        replication: { username: 'replicator', password },
        rewind: { username: 'rewinder', password },
      },
      parameters: { unix_socket_directories: home, password_encryption: 'scram-sha-256' },
    },
  }
}

interface Member {
  name: string
  role: string
  state: string
}

/** The members as any living node sees them. */
async function membersOf(nodes: readonly Node[]): Promise<Member[]> {
  for (const { patroni } of nodes) {
    const answer = await fetch(`http://127.0.0.1:${patroni}/cluster`).catch(() => undefined)
    if (answer?.ok) return ((await answer.json()) as { members: Member[] }).members
  }
  return []
}

function killServer(data: string): void {
  const file = path.join(data, 'postmaster.pid')
  const pid = fs.existsSync(file) && Number(fs.readFileSync(file, 'utf8').split('\n')[0])
  if (!pid || !fs.existsSync(`/proc/${pid}`) || fs.readlinkSync(`/proc/${pid}/cwd`) !== fs.realpathSync(data)) return
  // its processes first: else some of them go on for a moment
  const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  for (const one of [pid, ...children]) {
    try {
      process.kill(one, 'SIGKILL')
    } catch {
      // it has ended
    }
  }
}

function accountOf(name: string): { uid: number; gid: number } {
  const [uid, gid] = ['-u', '-g'].map((which) => Number(spawnSync('id', [which, name], { encoding: 'utf8' }).stdout))
  if (process.getuid?.() !== 0)
    throw new Error('The drill must run as root, because PostgreSQL runs under the account postgres.')
  return { uid: uid!, gid: gid! }
}
