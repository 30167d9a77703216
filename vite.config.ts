import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { build, defineConfig, type Plugin, type UserConfig } from 'vite'

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
  plugins: [sharedHtml(), selfContained('pay/index.html')],
  build: {
    ...shared.build,
    outDir,
    emptyOutDir: true,
    rolldownOptions: {
      input: [
        'index.html',
        'order/index.html',
        'charge/index.html',
        'library/index.html',
        'pricing/index.html',
        'sign-in/index.html',
        'account/index.html',
        'shop/index.html',
        'outbox/index.html',
        '404.html',
      ].map((file) => path.join(root, file)),
    },
  },
})

/** Puts what the pages share in the place of `<!--ui:head-->`, `<!--ui:api-->`, `<!--ui:header-->` and `<!--ui:footer-->`. */
function sharedHtml(): Plugin {
  return {
    name: 'sharedHtml',
    transformIndexHtml: {
      order: 'pre',
      handler: (html) =>
        html.replace(/<!--ui:(\w+)-->/g, (_, part: string) =>
          readFileSync(path.join(root, 'ui', `${part}.html`), 'utf8').trim(),
        ),
    },
  }
}

/**
 * Writes one page as a single file, its style and script inside: on a slow phone network every further request costs
 * more than half a second, and this is the page where a second loses the sale. What it imports later stays a file.
 */
function selfContained(page: string): Plugin {
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
            // An inline script resolves its imports from the page's own address, so it is built as if it lay there.
            output: { entryFileNames: page.replace('.html', '.js'), chunkFileNames: 'assets/[name]-[hash].js' },
          },
        },
      })
      const { output } = (Array.isArray(result) ? result[0] : result) as { output: Emitted[] }
      for (const file of output.filter((one) => one.type === 'chunk' && !one.isEntry)) {
        if (file.imports?.length) throw new Error(`${file.fileName} needs the script that is inside the page`)
        await write(file.fileName, file.code!)
      }
      for (const file of output.filter((one) => one.fileName.endsWith('.json')))
        await write(file.fileName, String(file.source))
      const html = output.find((file) => file.fileName.endsWith('.html'))
      if (!html) throw new Error(`${page} was not built`)
      await write(page, inline(String(html.source), output))
    },
  }
}

/** Nothing is preloaded (`modulePreload: false`), so what does it for an import() is only weight. */
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
  code?: string
  isEntry?: boolean
  imports?: string[]
}

function inline(html: string, files: Emitted[]): string {
  const css = files.filter((file) => file.fileName.endsWith('.css')).map((file) => String(file.source).trim())
  const js = files.filter((file) => file.type === 'chunk' && file.isEntry).map((file) => file.code!.trim())
  if (css.length !== 1 || js.length !== 1) throw new Error('a self-contained page has one style sheet and one script')
  const bare = html
    .replace(/\s*<link\b[^>]*\brel="stylesheet"[^>]*>/, '')
    .replace(/\s*<script\b[^>]*\bsrc="[^>]*><\/script>/, '')
  if (/<(script|link)\b[^>]*\/assets\//.test(bare)) throw new Error('the page still asks for a file')
  // Replacers, not strings: a "$&" in the code would be read as a pattern.
  return bare
    .replace('</head>', () => `  <style>${css[0]}</style>\n  </head>`)
    .replace('</body>', () => `  <script type="module">${guarded(js[0]!)}</script>\n  </body>`)
}

/** A script inside HTML must not hold what would end it, or open a comment in it. */
const guarded = (code: string): string => code.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--')
