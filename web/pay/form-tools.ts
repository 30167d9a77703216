import type { Look, MountedForm, MountForm, PlainParts } from './payment-form.ts'

/** A script of some hundred kilobytes needs time on a slow line. After this time it will not arrive any more. */
const PATIENCE_MS = 60_000

/** Draws a form. Rejects when that takes too long. */
export function open(mount: MountForm, place: HTMLElement, parts: PlainParts): Promise<MountedForm> {
  const opening = mount(place, { ...parts, load, look })
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      reject(new Error('the form takes too long'))
      // The next try draws into an empty place.
      place.replaceChildren()
      opening.then(
        (form) => form.destroy(),
        () => {},
      )
    }, PATIENCE_MS)
    opening.then(resolve, reject).finally(() => clearTimeout(late))
  })
}

const scripts = new Map<string, Promise<void>>()

/**
 * Runs a script of another host, once for all forms that wait for it. Rejects when it is blocked or does not arrive.
 */
function load(address: string): Promise<void> {
  const before = scripts.get(address)
  if (before) return before
  // The processor wants to know for which shop it runs. It never learns the page or the product.
  document.querySelector<HTMLMetaElement>('meta[name=referrer]')!.content = 'strict-origin'
  const script = document.createElement('script')
  script.src = address
  const arrival = new Promise<void>((done, fail) => {
    const giveUp = () => {
      clearTimeout(late)
      script.remove()
      scripts.delete(address)
      fail(new Error('the script cannot be loaded'))
    }
    const late = setTimeout(giveUp, PATIENCE_MS)
    script.addEventListener('load', () => {
      clearTimeout(late)
      done()
    })
    script.addEventListener('error', giveUp)
    document.head.append(script)
  })
  scripts.set(address, arrival)
  return arrival
}

/** The page's colours and font, as the browser shows them now. */
function look(): Look {
  const probe = document.body.appendChild(document.createElement('i'))
  const colour = (name: string, scheme = '') => {
    probe.style.colorScheme = scheme
    probe.style.color = `var(--${name})`
    return hex(getComputedStyle(probe).color)
  }
  const style = getComputedStyle(document.body)
  const seen = {
    dark: matchMedia('(prefers-color-scheme: dark)').matches,
    font: style.fontFamily,
    radius: '8px',
    paper: colour('paper'),
    ink: colour('ink'),
    soft: colour('ink-soft'),
    line: colour('line-strong'),
    accent: colour('accent'),
    brand: colour('accent', 'light'),
    wash: colour('wash'),
    alarm: colour('alarm'),
  }
  probe.remove()
  return seen
}

/** The scripts want `#rrggbb`; browsers return `rgb(r, g, b)`. */
const hex = (colour: string): string =>
  `#${(colour.match(/\d+/g) ?? [])
    .slice(0, 3)
    .map((part) => Number(part).toString(16).padStart(2, '0'))
    .join('')}`
