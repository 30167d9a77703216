import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { watch } from '../bench/children.ts'

const DEFAULTS = `
global
  maxconn 4000
  stats socket {folder}/haproxy.sock
defaults
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  # a busy instance is not a lost one
  timeout check 5s
  # a connection that was refused has carried no request
  option redispatch
  retries 3
`

/** The program of a Debian package, or an error with the command that installs it. */
export function debian(program: string, name: string): string {
  if (spawnSync('/bin/sh', ['-c', `command -v '${program}'`]).status === 0) return program
  throw new Error(`There is no ${program} here: apt-get install ${name}`)
}

/** Starts HAProxy with these sections, until the drill ends. */
export function startHaproxy(folder: string, sections: string): void {
  const file = path.join(folder, 'haproxy.cfg')
  fs.writeFileSync(file, DEFAULTS.replace('{folder}', folder) + sections)
  const program = debian('haproxy', 'haproxy')
  const { status, stderr } = spawnSync(program, ['-c', '-f', file], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  const log = path.join(folder, 'haproxy.log')
  const output = fs.openSync(log, 'w')
  const child = watch(spawn(program, ['-db', '-f', file], { stdio: ['ignore', output, output] }))
  fs.closeSync(output)
  child.once('exit', (code) => {
    if (code) console.error(fs.readFileSync(log, 'utf8'))
  })
}

/** Buyers' requests go to the instances that are ready. An instance that is not is left out within half a second. */
export const forInstances = (port: number, instances: readonly number[]): string => `
frontend shop
  mode http
  bind 127.0.0.1:${port}
  default_backend instances
backend instances
  mode http
  option httpchk GET /readyz
  default-server check inter 300ms fall 1 rise 1
${instances.map((one, at) => `  server till${at} 127.0.0.1:${one}`).join('\n')}
`

/** The database's connections go to the primary, as each node's Patroni tells. */
export const forPrimary = (port: number, nodes: readonly { port: number; patroni: number }[]): string => `
listen primary
  mode tcp
  bind 127.0.0.1:${port}
  timeout client 30m
  timeout server 30m
  option httpchk GET /primary
  default-server check inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${nodes.map((one, at) => `  server node${at} 127.0.0.1:${one.port} check port ${one.patroni}`).join('\n')}
`
