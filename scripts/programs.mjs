// @ts-check
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'vite'

/** The tests start these as processes of their own, again and again. */
const PROGRAMS = [
  'src/main.ts',
  ...['adopt', 'backup', 'doctor', 'drill', 'operator', 'payouts', 'reconcile', 'recall', 'restore', 'trust'].map(
    (name) => `scripts/${name}.ts`,
  ),
]
const SOURCES = ['src/**/*.{ts,mjs}', 'scripts/**/*.{ts,mjs}', 'package-lock.json']
const FOLDER = path.resolve('node_modules', '.cache', 'programs')

/**
 * Bundles each of these programs with its packages, because they start some 200 times in a run, and to load 1,800 files takes more than
 * half of a start. Returns the option with which Node runs the bundle in place of the source. The command line stays as it is, and so
 * do the paths that a source takes from its own place.
 */
export async function buildPrograms() {
  const folder = path.join(FOLDER, keyOfSources())
  const use = path.join(folder, 'use.mjs')
  if (fs.existsSync(use)) return `--import=${pathToFileURL(use).href}`
  fs.rmSync(FOLDER, { recursive: true, force: true })
  await build({
    configFile: false,
    publicDir: false,
    logLevel: 'error',
    plugins: [sourcePlaces],
    ssr: { noExternal: true },
    build: {
      ssr: true,
      outDir: folder,
      minify: false,
      target: 'esnext',
      rolldownOptions: {
        input: Object.fromEntries(PROGRAMS.map((file) => [path.basename(file, '.ts'), file])),
        output: { entryFileNames: '[name].mjs', chunkFileNames: 'parts/[name]-[hash].mjs' },
      },
    },
  })
  // last, because it says that all the others are there
  fs.writeFileSync(use, useInstead(folder))
  return `--import=${pathToFileURL(use).href}`
}

/** A built module lies elsewhere than its source, so the places that a source names are written into it. */
const sourcePlaces = {
  name: 'source-places',
  transform(/** @type {string} */ code, /** @type {string} */ id) {
    if (!path.isAbsolute(id) || !/import\.meta\.(url|dirname|filename)|__(dir|file)name/.test(code)) return undefined
    const url = JSON.stringify(pathToFileURL(id).href)
    const [folder, file] = [JSON.stringify(path.dirname(id)), JSON.stringify(id)]
    return code
      .replaceAll(/\bimport\.meta\.url\b/g, url)
      .replaceAll(/\bimport\.meta\.dirname\b|\b__dirname\b/g, folder)
      .replaceAll(/\bimport\.meta\.filename\b|\b__filename\b/g, file)
  },
}

/** @param {string} folder */
function useInstead(folder) {
  const built = PROGRAMS.map((file) => [
    pathToFileURL(path.resolve(file)).href,
    pathToFileURL(path.join(folder, `${path.basename(file, '.ts')}.mjs`)).href,
  ])
  return `import module from 'node:module'
const built = new Map(${JSON.stringify(built)})
const hooks = module.registerHooks?.({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    if (context.parentURL) return found
    hooks.deregister()
    const url = built.get(found.url)
    return url ? { ...found, url, format: 'module' } : found
  },
})
`
}

function keyOfSources() {
  const sum = createHash('sha256').update(fs.readFileSync(import.meta.filename))
  for (const file of SOURCES.flatMap((pattern) => fs.globSync(pattern)).sort()) {
    if (!file.endsWith('.test.ts')) sum.update(file).update('\0').update(fs.readFileSync(file))
  }
  return sum.digest('hex').slice(0, 16)
}
