// @ts-check
import fs from 'node:fs'
import path from 'node:path'
import { build } from 'vite'
import { filesBelow, folderOfPrograms } from './sources.mjs'

// The set-up runs this. It bundles the service and its commands with their packages: to load 1,800 files takes more than half of a start,
// and 15 MB for as long as the service runs. use-built.mjs runs the bundles.

const PROGRAMS = [
  'src/main.ts',
  ...[
    'adopt',
    'backup',
    'doctor',
    'drill',
    'operator',
    'payouts',
    'reconcile',
    'recall',
    'restore',
    'trust',
    'upgrade-database',
  ].map((name) => `scripts/${name}.ts`),
]
/** A service that still runs may load a part of its own bundle later, so the one before stays. */
const KEPT = 2

const root = path.resolve(import.meta.dirname, '..')
const folder = folderOfPrograms(root)
async function buildPrograms() {
  const all = path.dirname(folder)
  const making = path.join(all, '.making')
  fs.rmSync(making, { recursive: true, force: true })
  await build({
    root,
    configFile: false,
    publicDir: false,
    logLevel: 'error',
    plugins: [sourcePlaces],
    ssr: { noExternal: true },
    build: {
      ssr: true,
      outDir: making,
      // the names stay, so that a stack trace is readable
      minify: false,
      target: 'esnext',
      rolldownOptions: {
        input: Object.fromEntries(PROGRAMS.map((file) => [path.basename(file, '.ts'), path.join(root, file)])),
        output: { entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs', banner: PLACES },
      },
    },
  })
  // a `git pull` meanwhile
  if (folderOfPrograms(root) !== folder) throw new Error('the sources changed while the programs were built')
  // it has its name only when it is whole, also after a power cut
  for (const file of filesBelow(making)) flush(file)
  fs.renameSync(making, folder)
  const made = fs.readdirSync(all).map((name) => path.join(all, name))
  const byAge = made.map((one) => ({ one, at: fs.statSync(one).mtimeMs })).sort((a, b) => b.at - a.at)
  for (const { one } of byAge.slice(KEPT)) fs.rmSync(one, { recursive: true, force: true })
}

/** @param {string} file */
function flush(file) {
  const open = fs.openSync(file, 'r+')
  fs.fsyncSync(open)
  fs.closeSync(open)
}

/** A built module lies elsewhere than its source, so it names the places of its source, and the whole installation can be moved. */
const PLACES = `import { dirname as $dirname } from 'node:path'
import { fileURLToPath as $toPath } from 'node:url'
const $sourceUrl = (file) => new URL('../../' + file, import.meta.url).href
const $sourceFile = (file) => $toPath($sourceUrl(file))
const $sourceFolder = (file) => $dirname($sourceFile(file))`
const sourcePlaces = {
  name: 'source-places',
  transform(/** @type {string} */ code, /** @type {string} */ id) {
    if (!path.isAbsolute(id) || !/import\.meta\.(url|dirname|filename)|__(dir|file)name/.test(code)) return undefined
    const file = JSON.stringify(belowRoot(id))
    return code
      .replaceAll(/\bimport\.meta\.url\b/g, `$sourceUrl(${file})`)
      .replaceAll(/\bimport\.meta\.dirname\b|\b__dirname\b/g, `$sourceFolder(${file})`)
      .replaceAll(/\bimport\.meta\.filename\b|\b__filename\b/g, `$sourceFile(${file})`)
  },
}

/** The packages may be those of another folder, behind a link. @param {string} id */
function belowRoot(id) {
  const file = id.split(path.sep).join('/')
  const inPackages = file.indexOf('/node_modules/')
  return inPackages < 0 ? path.relative(root, id).split(path.sep).join('/') : file.slice(inPackages + 1)
}

if (!fs.existsSync(folder)) await buildPrograms()
