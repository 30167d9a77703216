import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import vm from 'node:vm'
import { type Script, splitPage } from '../../scripts/later-files.ts'
import { LOCALES } from '../../src/kit/locales.ts'
import { catalogueOf } from '../../src/words/catalogues.ts'
import { en } from '../../src/words/en.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8')

const script = (fileName: string, code: string, imports: string[] = []): Script => ({
  fileName,
  name: path.basename(fileName).replace(/-\w+\.js$/, ''),
  code,
  imports,
})
const TEXTS = {
  en: { pay: { pay: 'Pay', done: 'Done', left: 'Left' } },
  de: { pay: { pay: 'Zahlen', done: 'Fertig', left: 'Rest' } },
}

test('a later file has its texts before it starts, and finds in the page what the page keeps', async () => {
  const page = script(
    'pay/index.js',
    'var w=JSON.parse(`{}`);let n=0;function up(){return ++n}globalThis.label=w.pay;var load=()=>J$(()=>import(`../assets/after-x.js`),[]);export{up as t,w as n};',
  )
  const later = script(
    'assets/after-x.js',
    'import{n as e,t as up}from"../pay/index.js";var a=e.done;globalThis.said=a+up()+up();import("./drawer-y.js");export{a as A};',
    ['pay/index.js'],
  )
  const drawer = script('assets/drawer-y.js', 'export const draw=1;')
  const { script: inPage, files, texts } = splitPage(page, [later, drawer], TEXTS)
  assert.deepEqual(texts, { pay: { pay: 'Pay' } }, 'the page has what it reads itself')
  const names = Object.keys(files)
  assert.equal(names.length, 3, 'one for each language, and one without texts')
  const [, version] = /^assets\/after-([\w-]{8})\.en\.js$/.exec(names[0]!)!
  assert.ok(inPage.includes(`import(\`../assets/after-${version}.\${tillPage.language}.js\${tillPage.again}\`)`))
  const german = files[`assets/after-${version}.de.js`]!
  assert.ok(german.includes(`import(\`./drawer-${version}.js\${tillPage.again}\`)`))
  const world: Record<string, unknown> = vm.createContext({})
  vm.runInContext(inPage.replace('()=>import', '()=>void'), world)
  const kept = world.tillPage as { words: object }
  kept.words = { pay: vm.runInContext('w', world) }
  vm.runInContext(`{${german.replace(/import\(.*?\);export.*$/, '')}}`, world)
  assert.equal(world.said, 'Fertig12')
})

test('another text, another script or another later file gives later files another name', () => {
  const page = script('pay/index.js', 'import("../assets/after-x.js");export{a as t};')
  const later = (code: string) => [
    script('assets/after-x.js', `import{t as a}from"../pay/index.js";${code}`, [page.fileName]),
  ]
  const nameOf = (code: string, texts = TEXTS, from = page) => Object.keys(splitPage(from, later(code), texts).files)[0]
  assert.equal(nameOf('a.done'), nameOf('a.done'))
  assert.notEqual(nameOf('a.done'), nameOf('a.left'))
  assert.notEqual(nameOf('a.done'), nameOf('a.done', { ...TEXTS, de: { pay: { ...TEXTS.de.pay, done: 'Gut' } } }))
  const longer = { ...page, code: 'import("../assets/after-x.js");export{b as n,a as t};' }
  assert.notEqual(nameOf('a.done'), nameOf('a.done', TEXTS, longer), 'it finds the shared parts by their places')
})

test('the build ends with an error where a later file needs what it cannot find', () => {
  const page = script('pay/index.js', 'export{a as t};')
  const build = (code: string, imports: string[]) => splitPage(page, [script('assets/b-x.js', code, imports)], TEXTS)
  assert.throws(() => build('import{a}from"./c-x.js";', ['assets/c-x.js']), /may import from the page.*assets\/c-x\.js/)
  assert.throws(() => build('import{x as b}from"../pay/index.js";', ['pay/index.js']), /the page has no x/)
  assert.throws(() => build('var b=1;import a from"../pay/index.js";', ['pay/index.js']), /in a way/)
})

test('each text that a module of the payment page reads is in the page, or comes with a file that reads it', async () => {
  const wanted = new Map<string, Set<string>>([['ui', new Set()], ['pay', new Set()]]) // oxfmt-ignore
  const seen = new Set<string>()
  for (const queue = ['web/pay/main.tsx']; queue.length > 0;) {
    const file = queue.pop()!
    if (seen.has(file) || !file.startsWith('web/')) continue
    seen.add(file)
    const text = read(file)
    const names = new Map(
      Array.from(text.matchAll(/const (\w+) = wordsOf\('(\w+)'\)/g), ([, name, part]) => [name!, part!]),
    )
    for (const [, direct, variable, name] of text.matchAll(/\b(?:wordsOf\('(\w+)'\)|(\w+))\.(\w+)/g)) {
      const part = direct ?? names.get(variable!)
      if (part) wanted.get(part)!.add(name!)
    }
    for (const name of ['wordsOf\\([^)]*\\)', ...names.keys()])
      assert.doesNotMatch(text, new RegExp(`\\b${name}\\[`), `${file} puts the name of a text together`)
    for (const [, next] of text.matchAll(/(?:from |import\()'(\.[^']+\.tsx?)'/g))
      queue.push(path.posix.join(path.posix.dirname(file), next!))
  }
  assert.ok(seen.size > 50)
  const html = read('dist/pay/index.html')
  const texts = JSON.parse(/id="till-words">(.*?)<\/script>/s.exec(html)![1]!) as Record<string, object>
  for (const locale of LOCALES) {
    const catalogue = await catalogueOf(locale)
    const later = [...html.matchAll(/assets\/([\w-]+)\.\$\{tillPage\.language\}/g)]
      .map(([, name]) => read(`dist/assets/${name}.${locale}.js`))
      .join('\n')
    for (const [part, names] of wanted)
      for (const name of names) {
        if (!(name in en[part as 'pay'])) continue
        const text = catalogue[part as 'pay'][name as keyof typeof en.pay]
        const escaped = JSON.stringify(text).replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`)
        assert.ok(name in texts[part]! || later.includes(`"${name}":${escaped}`), `${locale}: ${part}.${name}`)
      }
  }
})
