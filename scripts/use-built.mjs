// @ts-check
// node --import=./scripts/use-built.mjs src/main.ts    runs the program that was built from exactly these sources, or else the sources
import fs from 'node:fs'
import module from 'node:module'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { folderOfPrograms } from './sources.mjs'

// glibc then gives freed memory back, as under the unit and in the image. It reads these only when a process begins.
const MEMORY = { MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '131072' }
if (process.platform === 'linux' && process.env.npm_lifecycle_event === 'start' && !process.env.MALLOC_TRIM_THRESHOLD_)
  process.execve?.(process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)], {
    ...process.env,
    ...MEMORY,
  })

const root = path.resolve(import.meta.dirname, '..')
const folder = folderOfPrograms(root)
if (process.argv[1] && fs.existsSync(folder)) {
  // Node's default is a folder in /tmp that any account of the machine can make first, and it would run the code that it finds there
  module.enableCompileCache(path.join(root, 'node_modules', '.cache', 'compiled'))
  // only the program's own file is replaced: the command line stays as it is
  const hooks = module.registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context)
      if (context.parentURL) return found
      hooks.deregister()
      const source = path.relative(root, fileURLToPath(found.url))
      const built = path.join(folder, `${path.basename(source, '.ts')}.mjs`)
      const isProgram = /^(?:src|scripts)[\\/]\w+\.ts$/.test(source) && fs.existsSync(built)
      return isProgram ? { ...found, url: pathToFileURL(built).href, format: 'module' } : found
    },
  })
}
