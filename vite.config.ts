import { readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build, defineConfig, type Plugin, type UserConfig } from 'vite'
import { splitPage, type Script, type Texts } from './scripts/later-files.ts'
import { LOCALES } from './src/kit/locales.ts'
import { catalogueOf } from './src/words/catalogues.ts'
import { en } from './src/words/en.ts'
import { withTexts, wordsScript } from './src/words/in-html.ts'

const root = path.resolve(import.meta.dirname, 'web')
const outDir = path.resolve(import.meta.dirname, 'dist')

const shared = {
  root,
  publicDir: false,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: { modulePreload: false, reportCompressedSize: false },
} satisfies UserConfig

export default defineConfig({
  ...shared,
  publicDir: 'public',
  plugins: [sharedHtml(), selfContained('pay/index.html'), scriptForSites(), compressed()],
  build: {
    ...shared.build,
    outDir,
    emptyOutDir: true,
    rolldownOptions: {
      input: [
        'index.html',
        'order/index.html',
        'charge/index.html',
        'withdraw/index.html',
        'library/index.html',
        'pricing/index.html',
        'sign-in/index.html',
        'account/index.html',
        'shop/index.html',
        'operator/index.html',
        'outbox/index.html',
        '404.html',
      ].map((file) => path.join(root, file)),
    },
  },
})

/**
 * Replaces `<!--ui:head-->`, `<!--ui:api-->`, `<!--ui:header-->` and `<!--ui:footer-->` by the parts that the pages
 * share, and `<!--words:ui pay-->` by these texts in English. The service writes another language in their place.
 */
function sharedHtml(): Plugin {
  return {
    name: 'sharedHtml',
    transformIndexHtml: {
      order: 'pre',
      handler: (html) =>
        html
          .replace(/<!--ui:(\w+)-->/g, (_, part: string) =>
            readFileSync(path.join(root, 'ui', `${part}.html`), 'utf8').trim(),
          )
          .replace(/<!--words:([\w ]+)-->/, (_, parts: string) => wordsScript(parts, en)),
    },
  }
}

/**
 * Writes one page as a single file, with its style and script inside. On a slow phone network each further request
 * costs more than half a second, and on this page a second loses the sale. A script loaded by import() stays a file of
 * its own.
 */
function selfContained(page: string): Plugin {
  const pageScript = page.replace('.html', '.js')
  return {
    name: 'self-contained',
    apply: 'build',
    async closeBundle() {
      const result = await build({
        ...shared,
        configFile: false,
        plugins: [sharedHtml(), plainImports()],
        logLevel: 'warn',
        build: {
          ...shared.build,
          write: false,
          cssCodeSplit: false,
          rolldownOptions: {
            input: path.join(root, page),
            output: {
              // All that the page needs at once is one script, and what a later file shares with it stays there.
              codeSplitting: { groups: [{ debugName: 'page', name: neededAtOnce(path.join(root, page)) }] },
              // The browser resolves the imports of an inline script from the page's address, so the script is built
              // for that place.
              chunkFileNames: ({ name }) => (name === 'page' ? pageScript : 'assets/[name]-[hash].js'),
            },
          },
        },
      })
      const { output } = (Array.isArray(result) ? result[0] : result) as { output: Emitted[] }
      const scripts = output.filter((one): one is Emitted & Script => one.type === 'chunk')
      const [inside, ...others] = scripts.toSorted((one) => (one.fileName === pageScript ? -1 : 0))
      const { script, files, texts } = splitPage(inside!, others, await pageTexts())
      for (const [file, code] of Object.entries(files)) await write(file, code)
      const html = output.find((file) => file.fileName.endsWith('.html'))
      const css = output.filter((file) => file.fileName.endsWith('.css'))
      if (!html || css.length !== 1) throw new Error(`${page} is one page with one style sheet`)
      await write(page, inline(withTexts(String(html.source), texts), String(css[0]!.source), script))
    },
  }
}

/** The texts of the payment page in every language. */
async function pageTexts(): Promise<Record<string, Texts>> {
  const all = LOCALES.map(async (locale) => {
    const { ui, pay } = await catalogueOf(locale)
    return [locale, { ui, pay }] as const
  })
  return Object.fromEntries(await Promise.all(all))
}

/** Names the group of the modules that the page imports, and not those that it loads later. */
function neededAtOnce(page: string) {
  const needed: string[] = []
  return (id: string, graph: { getModuleInfo: (id: string) => { importedIds: string[] } | null }) => {
    if (needed.length === 0) {
      needed.push(page)
      // grows while it is walked
      for (const one of needed)
        needed.push(...(graph.getModuleInfo(one)?.importedIds ?? []).filter((next) => !needed.includes(next)))
    }
    return needed.includes(id) ? 'page' : null
  }
}

/** Builds `till.js`, the script of sellers' own sites: one classic script, which leaves no name behind. */
function scriptForSites(): Plugin {
  return {
    name: 'script-for-sites',
    apply: 'build',
    async closeBundle() {
      const result = await build({
        ...shared,
        configFile: false,
        logLevel: 'warn',
        build: {
          ...shared.build,
          write: false,
          rolldownOptions: {
            input: path.join(root, 'till/till.ts'),
            output: { format: 'iife', entryFileNames: 'till.js' },
          },
        },
      })
      const { output } = (Array.isArray(result) ? result[0] : result) as { output: Script[] }
      if (output.length !== 1) throw new Error('till.js is one file')
      await write('till.js', output[0]!.code)
    },
  }
}

/** Puts compressed copies beside the assets, so that the service never compresses one while buyers wait. */
function compressed(): Plugin {
  const write = async (file: string) => {
    const bytes = await readFile(file)
    const gzip = gzipSync(bytes, { level: 9 })
    // a browser would take a copy that saves nothing too
    if (gzip.length >= bytes.length) return
    await writeFile(`${file}.gz`, gzip)
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
    await writeFile(`${file}.br`, brotliCompressSync(bytes, { params }))
  }
  return {
    name: 'compressed',
    apply: 'build',
    closeBundle: {
      order: 'post',
      // after the plugins above have written their files
      sequential: true,
      async handler() {
        const folder = path.join(outDir, 'assets')
        const names = (await readdir(folder)).filter((name) => /\.(?:js|css|svg|json)$/.test(name))
        await Promise.all(names.map((name) => write(path.join(folder, name))))
      },
    },
  }
}

/** With `modulePreload: false` the page preloads nothing, so Vite's helper around each import() only adds weight. */
function plainImports(): Plugin {
  return {
    name: 'plain-imports',
    enforce: 'pre',
    load: (id) => (id === '\0vite/preload-helper.js' ? 'export const __vitePreload = (load) => load()' : undefined),
  }
}

async function write(file: string, text: string): Promise<void> {
  const target = path.join(outDir, file)
  await mkdir(path.dirname(target), { recursive: true })
  await writeFile(target, text)
}

interface Emitted {
  fileName: string
  type: 'asset' | 'chunk'
  source?: string | Uint8Array
}

function inline(html: string, css: string, js: string): string {
  const bare = html
    .replace(/\s*<link\b[^>]*\brel="stylesheet"[^>]*>/, '')
    .replace(/\s*<script\b[^>]*\bsrc="[^>]*><\/script>/, '')
  if (/<(script|link)\b[^>]*\/assets\//.test(bare)) throw new Error('the page still asks for a file')
  // Replacer functions, because `replace` would read a "$&" in the code as a pattern.
  return bare
    .replace('</head>', () => `  <style>${css.trim()}</style>\n  </head>`)
    .replace('</body>', () => `  <script type="module">${guarded(js.trim())}</script>\n  </body>`)
}

/** Escapes the texts that would end an inline script or open a comment in it. */
const guarded = (code: string): string => code.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--')
