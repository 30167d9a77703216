import { createHash } from 'node:crypto'
import { jsonForHtml } from '../src/words/in-html.ts'

// The payment page is one file: its script is inside, so that the first screen needs no further request. Code for
// later screens is in files that it loads by import(). A file cannot import from a script that is inside a page, so the page puts
// the shared parts into the global `tillPage`, and each later file takes it from there. The sources know nothing of
// this: they import as in any other program.

/** A script as the bundler has built it. */
export interface Script {
  fileName: string
  name: string
  code: string
  imports: string[]
}

/** The texts of one language, part by part. */
export type Texts = Record<string, Record<string, unknown>>

/** The global of web/pay/later.ts: the shared parts, the texts by part, the language, and a suffix that gives another try a new address. */
const GLOBAL = 'tillPage'

/**
 * Splits a page's texts and scripts: texts that its own script names stay in the page, and texts that only a later file names go there.
 * A file with texts is written once for each language.
 */
export function splitPage(page: Script, later: Script[], texts: Record<string, Texts>) {
  const [first] = Object.values(texts)
  const inPage = namedIn(page.code, first!)
  const shared = exportsOf(page.code)
  const version = hashOf(JSON.stringify([later, texts, shared.names]))
  const parts = later.map((file) => ({
    file,
    name: `${file.name}-${version}`,
    texts: without(namedIn(file.code, first!), inPage),
  }))
  const addresses = new Map(
    parts.map(({ file, name, texts }) => [
      baseOf(file.fileName),
      `${name}${hasAny(texts) ? `.\${${GLOBAL}.language}` : ''}.js\${${GLOBAL}.again}`,
    ]),
  )
  const linked = (code: string): string =>
    withoutHelper(code).replace(/import\([`'"]([^`'"]*\/)([^`'"/]+)[`'"]\)/g, (whole, folder: string, file: string) =>
      addresses.has(file) ? `import(\`${folder}${addresses.get(file)}\`)` : whole,
    )
  const files: Record<string, string> = {}
  for (const { file, name, texts: own } of parts) {
    const code = linked(takeIn(file, page.fileName, shared.names))
    if (!hasAny(own)) files[`assets/${name}.js`] = code
    else
      for (const [language, all] of Object.entries(texts))
        files[`assets/${name}.${language}.js`] = textsFor(own, all) + code
  }
  return { script: linked(shared.handedOut), files, texts: pick(inPage, first!) }
}

/** Vite's helper around each import() only calls it: vite.config.ts. */
const withoutHelper = (code: string): string => code.replace(/[\w$]+\(\(\)=>(import\([^()]*\)),\[\]\)/g, '$1')

const baseOf = (file: string): string => file.slice(file.lastIndexOf('/') + 1)
const hasAny = (names: Names): boolean => Object.keys(names).length > 0
const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 8)

type Names = Record<string, string[]>

/**
 * The texts that a script reads, as `words.name` or `{ name } = words`. The same name can mean something else there, and then the text
 * comes along in vain. No script puts a name together, which a test holds.
 */
const namedIn = (code: string, texts: Texts): Names => {
  const names = new Set(Array.from(code.matchAll(/[.{,]\s*([a-zA-Z]\w*)/g), ([, name]) => name))
  return Object.fromEntries(
    Object.entries(texts).map(([part, all]) => [part, Object.keys(all).filter((name) => names.has(name))]),
  )
}

const without = (names: Names, known: Names): Names =>
  Object.fromEntries(
    Object.entries(names)
      .map(([part, all]) => [part, all.filter((name) => !known[part]!.includes(name))] as const)
      .filter(([, all]) => all.length > 0),
  )

const pick = (names: Names, texts: Texts): Texts =>
  Object.fromEntries(
    Object.entries(names).map(([part, all]) => [
      part,
      Object.fromEntries(all.map((name) => [name, texts[part]![name]])),
    ]),
  )

/** They stand before the code, which reads them when it starts. */
const textsFor = (names: Names, texts: Texts): string =>
  Object.entries(pick(names, texts))
    .map(([part, all]) => `Object.assign(${GLOBAL}.words.${part},${jsonForHtml(all)});`)
    .join('')

/**
 * `export{a as b}` at the end of the page's script becomes a list in the global, in which a part is found by its place: names would cost the
 * page more. It comes before the values that it lists, so a function reads them.
 */
function exportsOf(code: string): { names: string[]; handedOut: string } {
  const [whole = '', list = ''] = /export\s*\{([^{}]*)\};?\s*$/.exec(code) ?? []
  const shared = listOf(list)
  const own = shared.map(([name]) => name)
  return {
    names: shared.map(([, name]) => name),
    handedOut: `globalThis.${GLOBAL}={parts:()=>[${own}]};${code.slice(0, code.length - whole.length)}`,
  }
}

/** `import{a as b}from"…"` of a later file becomes a look into the global. */
function takeIn({ fileName, code, imports }: Script, page: string, shared: string[]): string {
  if (imports.some((one) => one !== page))
    throw new Error(`${fileName} may import from the page, and from no other file: ${imports}`)
  const taken = code.replace(/^\s*import\s*(?:\{([^{}]*)\}\s*from\s*)?[`'"][^`'"]*[`'"];/, (_, list = '') => {
    const names = listOf(list).map(([name, own]) => `${placeOf(name, shared)}:${own}`)
    return names.length > 0 ? `const{${names.join()}}=${GLOBAL}.parts();` : ''
  })
  if (/(?:^|[;}])\s*import\b\s*[^(.\s]/.test(taken))
    throw new Error(`${fileName} imports in a way that the build does not know`)
  return taken
}

function placeOf(name: string, shared: string[]): number {
  const place = shared.indexOf(name)
  if (place < 0) throw new Error(`the page has no ${name}`)
  return place
}

const listOf = (list: string): [string, string][] =>
  list
    .split(',')
    .filter((one) => one.trim())
    .map((one) => one.trim().split(/\s+as\s+/))
    .map(([from, to]) => [from!, to ?? from!])
