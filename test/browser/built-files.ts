import { readFile, readdir } from 'node:fs/promises'
import path from 'node:path'

export const DIST = path.resolve(import.meta.dirname, '../../dist')

/**
 * A built page and every file that it leads to, by their names below `folder`: the files it loads, the files those can
 * load later, and the source maps beside or inside them. A file counts as soon as another one contains its name. A
 * browser follows at most as many.
 */
export async function builtFilesOf(page: string, folder = DIST): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
  const found = new Map<string, string>()
  const pending = [page]
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (found.has(file)) continue
    const text = (await readFile(path.join(folder, file), 'latin1')) + ' '
    found.set(file, text + mapsInside(text))
    const led = (other: string) => other === `${file}.map` || text.includes(nameOf(other))
    pending.push(...files.filter((other) => !found.has(other) && led(other)))
  }
  return found
}

/** Every page has a file of the same name, so the folder belongs to its name. */
const nameOf = (file: string): string => (file.endsWith('.html') ? file : path.posix.basename(file))

/** The text of a source map inside a script or a style. */
const mapsInside = (text: string): string =>
  [...text.matchAll(/sourceMappingURL=data:[^,\s]*;base64,([\w+/=]+)/g)]
    .map(([, map]) => Buffer.from(map!, 'base64').toString('latin1'))
    .join(' ')
