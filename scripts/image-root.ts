import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { linkLibraries, packagedPrograms } from '../src/kit/embedded/place.ts'

// The Dockerfile's build runs this. It collects the root file system of the image: the service, its packages and Node without what
// only a build needs, and the few libraries of the system that these load.

/** The account of the service. PostgreSQL refuses to run as root, and initdb wants a name for its account. */
const UID = 10001
/** The pages are built, so what builds them or is built into them is needed no more. */
const ONLY_FOR_PAGES = ['vite', 'preact', 'tus-js-client', 'uqr']
/** Types, maps, documents, and libraries to link programs with. */
const NOT_FOR_RUNNING = /\.(?:[cm]?ts|map|md|markdown|a)$/
/** What packages bring along that no program here reads: their tests and tools, faces of a font, sources, builds of a library for browsers. */
const NOT_USED = [
  /\/(?:tests?|__tests__|\.yarn|\.github|pgxs)\//,
  // an optional store of @tus/server
  /\/node_modules\/@redis\//,
  /\/noto-sans(?:-arabic|-hebrew)?\/(?!400Regular\/|700Bold\/).*\.ttf$/,
  /\/(?:biz-udpgothic|nanum-gothic)\/(?!400Regular\/).*\.ttf$/,
  /\/@expo-google-fonts\/.*\.png$|\/NotoSansHans-(?!Regular).*\.otf$/,
  /\/stdnum\/(?:src|lib\/esm)\//,
  /\/pdfkit\/js\/pdfkit\.(?:browser|standalone|old)[^/]*$|\/fontkit\/dist\/browser/,
]
/**
 * Programs of the system: the process that starts node, and the shell, because initdb starts `postgres` through it. The others are those
 * of the command by which PostgreSQL restores its log.
 */
const PROGRAMS = ['/usr/bin/tini', '/bin/sh', '/bin/mv', '/bin/sleep', '/bin/touch']

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
for (const name of [
  'package.json',
  'package-lock.json',
  'client',
  'dist',
  'docs',
  'schema',
  'scripts',
  'src',
  'web',
  'node_modules',
])
  fs.cpSync(name, path.join(till, name), { recursive: true, verbatimSymlinks: true })
run(
  'npm',
  ['uninstall', '--no-save', '--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund', ...ONLY_FOR_PAGES],
  till,
)
fs.rmSync(path.join(till, 'web'), { recursive: true })
const packages = path.join(till, 'node_modules')
for (const name of fs.readdirSync(packages)) {
  // the image has its Node in /usr/local/bin
  if (/^node-(bin-)?linux-/.test(name) || name === '.bin') fs.rmSync(path.join(packages, name), { recursive: true })
}
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
