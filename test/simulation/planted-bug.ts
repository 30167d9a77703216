import fs from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

// Loaded with --import before the service: puts a bug into one file as it is read, and with `also` a second change. The file on the disk
// stays the same.

const bug = JSON.parse(process.env['PLANTED_BUG']!) as {
  file: string
  from: string
  to: string
  also?: { from: string; to: string }
}

let isPlanted = false
process.on('exit', () => {
  if (!isPlanted) console.error(`${bug.file} was never read, so the bug was not planted`)
})

module.registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith('file:') || !url.endsWith(bug.file)) return nextLoad(url, context)
    const source = [bug, ...(bug.also ? [bug.also] : [])].reduce(
      (text, { from, to }) => {
        const parts = text.split(from)
        if (parts.length !== 2)
          throw new Error(`${bug.file} has ${parts.length - 1} places to plant the bug in: ${from}`)
        return parts.join(to)
      },
      fs.readFileSync(fileURLToPath(url), 'utf8'),
    )
    isPlanted = true
    return { format: 'module-typescript', source, shortCircuit: true }
  },
})
