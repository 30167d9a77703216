// @ts-check
// Finds a Chromium for the page tests: BROWSER_PATH, else the one in our packages, else an installed one.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '..')
const PACKAGE = path.join(root, 'node_modules', '@sparticuz', 'chromium')
const INSTALLED = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome', 'msedge']
const ON_MACOS = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'

/**
 * @typedef {{ executablePath: string, env: Record<string, string> }} Browser
 * `env` holds the variables that the browser needs in addition to our environment.
 */

/** @returns {Promise<Browser>} */
export async function findBrowser() {
  const given = process.env.BROWSER_PATH
  const found = given ? { executablePath: given, env: {} } : ((await bundled()) ?? installed())
  if (!found) throw new Error('No Chromium for the page tests: install one, or set BROWSER_PATH to one.')
  return found
}

/**
 * The Chromium of the npm package, which brings its own system libraries and fonts, so a bare machine will do.
 * @returns {Promise<Browser | undefined>}
 */
async function bundled() {
  if (process.platform !== 'linux' || process.arch !== 'x64' || !fs.existsSync(PACKAGE)) return undefined
  const { version } = JSON.parse(fs.readFileSync(path.join(PACKAGE, 'package.json'), 'utf8'))
  const folder = path.join(root, 'node_modules', '.cache', `chromium-${version}`)
  if (!fs.existsSync(folder)) await unpack(folder)
  const browser = {
    executablePath: path.join(folder, 'chromium'),
    env: { LD_LIBRARY_PATH: path.join(folder, 'al2023', 'lib'), FONTCONFIG_FILE: path.join(folder, 'fonts.conf') },
  }
  return runs(browser) ? browser : undefined
}

/**
 * Unpacks beside `folder` and renames, so that no other process finds half a browser.
 * @param {string} folder
 */
async function unpack(folder) {
  const fresh = `${folder}.${process.pid}`
  fs.mkdirSync(fresh, { recursive: true })
  const { inflate } = await import('@sparticuz/chromium')
  const before = process.env.TMPDIR
  process.env.TMPDIR = fresh // the package can only unpack to TMPDIR
  try {
    const archives = fs.readdirSync(path.join(PACKAGE, 'bin')).filter((file) => file.endsWith('.br'))
    await Promise.all(archives.map((file) => inflate(path.join(PACKAGE, 'bin', file))))
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
  fs.writeFileSync(path.join(fresh, 'fonts.conf'), fontsConf(folder))
  try {
    fs.renameSync(fresh, folder)
  } catch (error) {
    if (!fs.existsSync(folder)) throw error
    fs.rmSync(fresh, { recursive: true }) // another process was first
  }
}

/**
 * Without any font the browser aborts, and the package's own file names a folder that is not ours.
 * @param {string} folder
 */
const fontsConf = (folder) => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${folder}/fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>${folder}/font-cache</cachedir>
</fontconfig>
`

/** @param {Browser} browser */
function runs({ executablePath, env }) {
  const { status } = spawnSync(executablePath, ['--version'], { env: { ...process.env, ...env }, stdio: 'ignore' })
  return status === 0
}

/** @returns {Browser | undefined} */
function installed() {
  const look = process.platform === 'win32' ? 'where' : 'which'
  for (const name of INSTALLED) {
    const { status, stdout } = spawnSync(look, [name], { encoding: 'utf8' })
    const [executablePath] = status === 0 ? stdout.split(/\r?\n/) : []
    if (executablePath) return { executablePath, env: {} }
  }
  return fs.existsSync(ON_MACOS) ? { executablePath: ON_MACOS, env: {} } : undefined
}
