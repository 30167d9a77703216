/** A pair of CSS colours, for light pages and for dark ones: `light-dark(#0a6248, #63d3a6)`. */
export interface Theme {
  /** Of links, buttons and the focus. */
  accent: string
  /** The same under the pointer. */
  accentDeep: string
  /** Text on a button. */
  onAccent: string
}

type Rgb = readonly [number, number, number]

const BLACK: Rgb = [0, 0, 0]
const WHITE: Rgb = [255, 255, 255]
/** Accents stand on these in web/ui/base.css: the ground of light pages, and the paper of dark ones. Both are the harder case. */
const LIGHT_GROUND: Rgb = [0xf5, 0xf4, 0xf0]
const DARK_PAPER: Rgb = [0x18, 0x1c, 0x1b]
/** WCAG 2.2 asks for 4.5 between text and its ground. The rest is for washes that are a little nearer to the colour. */
const LEAST_CONTRAST = 5
const STEPS = 50
const DEEPER = 0.15

/**
 * The colours for pages that a seller's accent leads to. It stays as it is where it can be read, and else becomes darker on light pages
 * and lighter on dark ones, as far as needed. So no choice of a seller makes a page that somebody cannot read.
 */
export function themeOf(accent: string): Theme {
  const chosen = rgbOf(accent)
  const light = legible(chosen, LIGHT_GROUND, BLACK)
  const dark = legible(chosen, DARK_PAPER, WHITE)
  const pair = (one: Rgb, other: Rgb) => `light-dark(${hex(one)}, ${hex(other)})`
  return {
    accent: pair(light, dark),
    accentDeep: pair(mix(light, BLACK, DEEPER), mix(dark, WHITE, DEEPER)),
    onAccent: pair(textOn(light), textOn(dark)),
  }
}

/** The same for mails, which have no dark mode of their own. */
export function mailColours(accent: string): { ground: string; text: string } {
  const ground = legible(rgbOf(accent), LIGHT_GROUND, BLACK)
  return { ground: hex(ground), text: hex(textOn(ground)) }
}

/** Mixes a colour with another one until it stands out from the ground. */
function legible(color: Rgb, ground: Rgb, towards: Rgb): Rgb {
  for (let step = 0; step < STEPS; step++) {
    const mixed = mix(color, towards, step / STEPS)
    if (contrast(mixed, ground) >= LEAST_CONTRAST) return mixed
  }
  return towards
}

const textOn = (color: Rgb): Rgb => (contrast(color, WHITE) >= contrast(color, BLACK) ? WHITE : BLACK)

/** The contrast ratio of WCAG 2.2 (https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio). */
export function contrast(one: Rgb, other: Rgb): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

function luminance([red, green, blue]: Rgb): number {
  const linear = (channel: number) => {
    const share = channel / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

const mix = (one: Rgb, other: Rgb, share: number): Rgb =>
  one.map((channel, at) => Math.round(channel + (other[at]! - channel) * share)) as unknown as Rgb

export const rgbOf = (color: string): Rgb =>
  [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16)) as unknown as Rgb

const hex = (color: Rgb): string => `#${color.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`
