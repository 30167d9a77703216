// @ts-check
// Runs before `npm start` and `npm test` on any Node from 18 on. It installs missing packages and builds the pages and the programs. It
// is plain JavaScript without packages, because none are installed when it first runs.
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { lock } from '../src/kit/lock.mjs'
import { filesBelow, folderOfPrograms, hash } from './sources.mjs'

/** The service needs Node's own support for TypeScript, and its password hash, which comes with this version. */
const MIN_NODE = [24, 7]
/** On an older Node npm silently leaves out needed packages, because of their `engines`. */
const MIN_NODE_OF_NPM = [22, 12]
/** The folder for the service's own Node, which is installed before all other packages so that npm can run on it. */
const FIRST_NODE = '.setup-node'
const PROGRESS_MS = process.stderr.isTTY ? 500 : 5_000
const WINDOWS = process.platform === 'win32'
const INSTALLED = path.join('node_modules', '.setup.json')
const BUILT = path.join('dist', '.setup.json')

const QUIETLY = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
const NEEDS_REGISTRY = 'The first start needs to reach the npm registry.'

/** @typedef {'start' | 'test'} Wanted */
/** @type {Wanted} */
const wanted = process.argv[2] === 'start' ? 'start' : 'test'
/** @type {ReturnType<typeof lock>} */
let held

class Failure extends Error {}

try {
  process.chdir(path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..'))
  if (Number(process.versions.node.split('.')[0]) < 18)
    throw new Failure('Till needs Node 18 or newer to set itself up.')
  // commands that only read must change nothing under a running service
  if (process.argv.includes('--if-missing') && fs.existsSync(INSTALLED)) process.exit()
  if (process.argv.includes('--is-installed')) process.exit(readJson(INSTALLED)?.key === keyOfPackages() ? 0 : 1)
  held = lock('.setup-lock', () => say('another set-up is running in this folder, waiting for it …'))
  await install()
  const node = serviceNode()
  await buildPages(node)
  await buildPrograms(node)
} catch (error) {
  say(`\n${error instanceof Failure ? error.message : `The set-up failed: ${/** @type {Error} */ (error).message}.`}`)
  process.exitCode = 1
}

/** Changes when other packages are needed. */
function keyOfPackages() {
  const { dependencies, devDependencies, optionalDependencies } = readJson('package.json')
  const declared = JSON.stringify([dependencies, devDependencies, optionalDependencies])
  return hash(fs.readFileSync('package-lock.json'), declared, process.platform, process.arch)
}

async function install() {
  const key = keyOfPackages()
  /** @type {{ key: string, has: Wanted, adding?: boolean } | undefined} */
  const before = readJson(INSTALLED)
  const upToDate = before?.key === key
  if (upToDate && (wanted === 'start' || (before.has === 'test' && !before.adding))) return

  say(`installing packages (${before ? (upToDate ? 'those of the tests' : 'they have changed') : 'first run'}) …`)
  // The test packages are added to the others. npm ci would first remove all packages, also under a running service.
  const how = upToDate ? ['install', '--no-save'] : ['ci']
  if (upToDate) {
    if (before.adding) removeTestPackages()
    fs.writeFileSync(INSTALLED, JSON.stringify({ key, has: 'start', adding: true }))
  }
  const which = wanted === 'test' ? '--include=dev' : '--omit=dev'
  const node = await nodeForNpm()
  const stop = showProgress()
  const ok = await npm([...how, which, '--include=optional', ...QUIETLY], node)
  stop()
  fs.rmSync(FIRST_NODE, { recursive: true, force: true })
  if (!ok) throw new Failure(`npm ${how[0]} failed, see above. ${NEEDS_REGISTRY}`)
  linkNode()
  fs.writeFileSync(INSTALLED, JSON.stringify({ key, has: wanted }))
}

/** Returns a Node for npm to run on, if the machine's own is too old for it. */
async function nodeForNpm() {
  const own = versionOf(process.env.npm_node_execpath ?? process.execPath)
  if (isAtLeast(own, MIN_NODE_OF_NPM)) return undefined
  const { optionalDependencies } = readJson('package.json')
  const name = nodePackages().find((one) => one in optionalDependencies)
  const needed = `Till needs Node ${MIN_NODE.join('.')} or newer: this machine has ${own}, and`
  if (!name) throw new Failure(`${needed} there is no package with a newer one for it.`)
  say(`this machine has Node ${own}, fetching ${optionalDependencies[name]} first …`)
  fs.rmSync(FIRST_NODE, { recursive: true, force: true })
  fs.mkdirSync(FIRST_NODE)
  // makes the folder a package, because npm would otherwise use the package above it
  fs.writeFileSync(path.join(FIRST_NODE, 'package.json'), '{"private":true}')
  const exact = `${name}@${optionalDependencies[name]}`
  if (!(await npm(['install', '--prefix', FIRST_NODE, '--no-save', '--ignore-scripts', exact, ...QUIETLY]))) {
    throw new Failure(`Fetching Node failed, see above. ${NEEDS_REGISTRY}`)
  }
  const node = path.resolve(FIRST_NODE, 'node_modules', name, 'bin', WINDOWS ? 'node.exe' : 'node')
  const tried = spawnSync(node, ['--version'], { encoding: 'utf8' })
  if (tried.status === 0) return node
  const why = (tried.stderr || tried.error?.message || '').trim().split('\n')[0]
  throw new Failure(`${needed} the one in our packages does not run here (${why}).`)
}

/**
 * Counts the installed packages, because npm itself prints nothing while it works.
 * @returns {() => void} ends it
 */
function showProgress() {
  const began = Date.now()
  const all = Object.entries(readJson('package-lock.json').packages)
    .filter(([at, one]) => at !== '' && (wanted === 'test' || !one.dev) && isForHere(one))
    .map(([at]) => path.join(at, 'package.json'))
  const timer = setInterval(() => {
    const there = all.filter((file) => fs.existsSync(file)).length
    const line = `  ${there} of ${all.length} packages, ${Math.round((Date.now() - began) / 1000)} s`
    process.stderr.write(process.stderr.isTTY ? `\r${line}` : `${line}\n`)
  }, PROGRESS_MS)
  return () => {
    clearInterval(timer)
    if (process.stderr.isTTY) say('')
  }
}

/** @param {{ os?: string[], cpu?: string[], libc?: string[] }} wanted */
function isForHere({ os, cpu, libc }) {
  return (
    (os?.includes(process.platform) ?? true) &&
    (cpu?.includes(process.arch) ?? true) &&
    (libc?.includes('glibc') ?? true)
  )
}

/** A killed installation leaves incomplete packages, and npm takes every package with a folder for complete. */
function removeTestPackages() {
  for (const [at, { dev }] of Object.entries(readJson('package-lock.json').packages)) {
    if (dev) fs.rmSync(at, { recursive: true, force: true })
  }
}

/**
 * npm 10 drops the link to our Node when it leaves out a sibling package for another platform that has the same command.
 */
function linkNode() {
  const bin = path.join('node_modules', '.bin')
  const link = path.join(bin, WINDOWS ? 'node.cmd' : 'node')
  const target = nodePackages()
    .map((name) => path.join('..', name, 'bin', WINDOWS ? 'node.exe' : 'node'))
    .find((file) => fs.existsSync(path.join(bin, file)))
  if (!target || fs.existsSync(link)) return
  fs.rmSync(link, { force: true })
  if (WINDOWS) fs.writeFileSync(link, `@"%~dp0\\${target}" %*\r\n`)
  else fs.symlinkSync(target, link)
}

/** The names under which Node is packaged for this machine. */
function nodePackages() {
  return ['node', 'node-bin'].map((name) => `${name}-${WINDOWS ? 'win' : process.platform}-${process.arch}`)
}

/** @param {string} node */
function versionOf(node) {
  return spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout?.trim() || process.version
}

/** @param {string} version @param {number[]} needed major and minor */
function isAtLeast(version, [needsMajor = 0, needsMinor = 0]) {
  const [major = 0, minor = 0] = version.replace('v', '').split('.').map(Number)
  return major > needsMajor || (major === needsMajor && minor >= needsMinor)
}

/** The Node that runs the service: ours, or the machine's own if ours does not run here and that one is new enough. */
function serviceNode() {
  const bin = path.join('node_modules', '.bin')
  const ours = path.join(bin, WINDOWS ? 'node.cmd' : 'node')
  if (fs.existsSync(ours)) {
    const tried = spawnSync(ours, ['--version'], { encoding: 'utf8', shell: WINDOWS })
    if (tried.status === 0) return ours
    const why = (tried.stderr || tried.error?.message || '').trim().split('\n')[0]
    say(`the Node that comes with Till does not run here (${why}), using the machine's own`)
    for (const name of ['node', 'node.cmd', 'node.ps1']) fs.rmSync(path.join(bin, name), { force: true })
  }
  const own = process.env.npm_node_execpath ?? process.execPath
  const version = versionOf(own)
  if (isAtLeast(version, MIN_NODE)) return own
  throw new Failure(
    `Till needs Node ${MIN_NODE.join('.')} or newer: this machine has ${version}, and the one in our packages does not run here.`,
  )
}

/** @param {string} node */
async function buildPages(node) {
  const key = hash(...pageSources().flatMap((file) => [file, fs.readFileSync(file)]))
  if (readJson(BUILT)?.key === key) return
  const began = Date.now()
  const vite = path.join('node_modules', 'vite', 'bin', 'vite.js')
  if (!(await run(node, [vite, 'build', '--logLevel', 'warn'], { shell: WINDOWS && node.endsWith('.cmd') }))) {
    throw new Failure('Building the pages failed, see above.')
  }
  fs.writeFileSync(BUILT, JSON.stringify({ key }))
  say(`pages built in ${secondsSince(began)} s`)
}

/** @param {string} node */
async function buildPrograms(node) {
  if (fs.existsSync(folderOfPrograms())) return
  const began = Date.now()
  if (!(await run(node, [path.join('scripts', 'programs.mjs')], { shell: WINDOWS && node.endsWith('.cmd') }))) {
    throw new Failure('Building the programs failed, see above.')
  }
  say(`programs built in ${secondsSince(began)} s`)
}

/** All source files of the pages, with those that they share with the server. */
function pageSources() {
  const shared = filesBelow('src').filter((file) => /^src.(kit.[^/\\]+|words.[^/\\]+|[^/\\]+.schema)\.ts$/.test(file))
  const sources = [...filesBelow('web'), ...shared].filter((file) => !file.endsWith('.test.ts'))
  return ['package-lock.json', 'vite.config.ts', path.join('scripts', 'later-files.ts'), ...sources]
}

/**
 * Calls the npm that called us, on its own Node or on `node`. It uses none of node_modules, because npm may remove them.
 * @param {string[]} args @param {string} [node]
 */
function npm(args, node) {
  const { npm_execpath: cli = '', npm_node_execpath: own = '', PATH = '' } = process.env
  const bin = path.join('node_modules', '.bin')
  const outside = PATH.split(path.delimiter).filter((folder) => !folder.endsWith(bin))
  if (node) outside.unshift(path.dirname(node))
  const env = { ...process.env, PATH: outside.join(path.delimiter) }
  if (cli.endsWith('npm-cli.js') && fs.existsSync(node ?? own)) return run(node ?? own, [cli, ...args], { env })
  return run(WINDOWS ? 'npm.cmd' : 'npm', args, { env, shell: WINDOWS })
}

/**
 * Runs a command to its end, with its output on stderr. It forwards a signal to the command, and then ends us too.
 * @param {string} command @param {string[]} args @param {import('node:child_process').SpawnOptions} options
 * @returns {Promise<boolean>} whether it succeeded
 */
function run(command, args, options) {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 2, 2] })
  // after a SIGKILL to us the child still runs, and the next set-up must wait for it
  if (child.pid) held.share(child.pid)
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
    process.on(signal, () => {
      child.kill(signal)
      child.once('close', () => process.exit(1))
    })
  }
  return new Promise((resolve) => {
    child.once('error', (error) => {
      say(`${command}: ${error.message}`)
      resolve(false)
    })
    child.once('close', (code) => resolve(code === 0))
  })
}

/** @param {string} text */
function say(text) {
  process.stderr.write(`${text}\n`)
}

/** @param {string} file */
function readJson(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

/** @param {number} began */
function secondsSince(began) {
  return ((Date.now() - began) / 1000).toFixed(1)
}
