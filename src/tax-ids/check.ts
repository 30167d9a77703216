import { createRequire } from 'node:module'
import type { Validator } from 'stdnum'
import { OWN_RULES, type TaxIdProblem } from './own-rules.ts'

// `stdnum` (MIT) knows the published rules and check digits. Its index loads the numbers of all the world, so each country's file is
// loaded when the first of its numbers comes.
const load = createRequire(import.meta.url)

/** How a country's tax ids are checked, and written without spaces. */
interface Rule {
  /** The file of the library with this number's rule. */
  file: string
  /** Stands before the number on an invoice. People may leave it out when they type. */
  prefix: string
  /** Stands after it. People may leave it out. */
  suffix?: { text: string; typed: RegExp }
  /** Where the library takes more than the rule says. */
  shape?: RegExp
  /** People leave out the zeros at the beginning, which belong to the number. */
  padded?: true
}

const BRITISH = /^(?:\d{9}|\d{12}|GD[0-4]\d\d|HA[5-9]\d\d)$/

/** The members of the EU, whose VAT numbers begin with the country, in Greece with EL, and the library's name of each number. */
const EU_FILES = {
  AT: 'uid', BE: 'vat', BG: 'vat', CY: 'vat', CZ: 'dic', DE: 'vat', DK: 'cvr', EE: 'kmkr', ES: 'nif', FI: 'alv', FR: 'tva', GR: 'vat',
  HR: 'oib', HU: 'anum', IE: 'vat', IT: 'iva', LT: 'pvm', LU: 'tva', LV: 'pvn', MT: 'vat', NL: 'btw', PL: 'nip', PT: 'nif', RO: 'cif',
  SE: 'vat', SI: 'ddv', SK: 'dph',
} as const // oxfmt-ignore
const PADDED: ReadonlySet<string> = new Set(['BE', 'GR', 'NL'])
type EuCountry = keyof typeof EU_FILES
export const EU_COUNTRIES = Object.keys(EU_FILES) as EuCountry[]
export const isEu = (country: string): country is EuCountry => Object.hasOwn(EU_FILES, country)

const OTHERS: Record<string, Rule> = {
  GB: { file: 'gb/vat', prefix: 'GB', shape: BRITISH },
  // Northern Ireland: the number of the United Kingdom, which VIES knows by this prefix
  XI: { file: 'gb/vat', prefix: 'XI', shape: BRITISH },
  IN: { file: 'in/gstin', prefix: '' },
  CH: { file: 'ch/uid', prefix: 'CHE', suffix: { text: '', typed: /(?:MWST|TVA|IVA)$/ } },
  NO: { file: 'no/orgnr', prefix: 'NO', suffix: { text: 'MVA', typed: /MVA$/ } },
  AU: { file: 'au/abn', prefix: '' },
}

/** The countries whose tax ids are checked by check digits. */
export const CHECKED_COUNTRIES: readonly string[] = [...EU_COUNTRIES, ...Object.keys(OTHERS)]

export type CheckedTaxId =
  | {
      ok: true
      /** In capitals, without spaces and dots, with its prefix: `DE136695976`, `27AAPFU0939F1ZV`. */
      normalized: string
      /** False: the country's rules are not known here, and the id is taken as it is. */
      isChecked: boolean
    }
  | { ok: false; problem: TaxIdProblem }

/**
 * Checks a tax id of a country (ISO 3166-1, and XI for Northern Ireland) by its syntax and check digits. The prefix may be there or not.
 * An id that passes may still not exist: only an authority's register knows.
 */
export function checkTaxId(country: string, text: string): CheckedTaxId {
  const compact = text
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/[\s.\-–/]/g, '')
  const rule = ruleOf(country)
  if (!rule) {
    const isPlausible = /^(?=.*\d)[A-Z0-9]{4,30}$/.test(compact)
    return isPlausible ? { ok: true, normalized: compact, isChecked: false } : { ok: false, problem: 'syntax' }
  }
  const { validate } = load(`stdnum/lib/cjs/${rule.file}.js`) as Validator
  const number = withoutPrefix(rule.suffix ? compact.replace(rule.suffix.typed, '') : compact, rule, country)
  if (!(rule.shape ?? /^[A-Z0-9+*]{2,20}$/).test(number)) return { ok: false, problem: 'syntax' }
  const own = OWN_RULES[country]?.(number)
  if (own === 'syntax' || own === 'checksum') return { ok: false, problem: own }
  if (own === 'right') return { ok: true, normalized: rule.prefix + number, isChecked: true }
  const result = validate(country === 'CH' ? `CHE${number}` : number)
  if (!result.isValid) {
    const isChecksum = result.error?.constructor.name === 'InvalidChecksum'
    return { ok: false, problem: isChecksum ? 'checksum' : 'syntax' }
  }
  const whole = rule.padded ? result.compact : number
  return { ok: true, normalized: `${rule.prefix}${whole}${rule.suffix?.text ?? ''}`, isChecked: true }
}

function ruleOf(country: string): Rule | undefined {
  if (!isEu(country)) return Object.hasOwn(OTHERS, country) ? OTHERS[country] : undefined
  const file = `${country.toLowerCase()}/${EU_FILES[country]}`
  return { file, prefix: country === 'GR' ? 'EL' : country, ...(PADDED.has(country) && { padded: true }) }
}

/** Greek numbers come with both codes of the country, and those of Northern Ireland with the one of the United Kingdom. */
function withoutPrefix(compact: string, { prefix }: Rule, country: string): string {
  const prefixes = [prefix, country === 'GR' ? 'GR' : '', country === 'XI' ? 'GB' : ''].filter(Boolean)
  const found = prefixes.find((one) => compact.startsWith(one))
  return found ? compact.slice(found.length) : compact
}

/** The two letters by which VIES knows the country of an EU number, or undefined where VIES does not answer for it. */
export function viesCountry(country: string): string | undefined {
  if (country === 'XI') return 'XI'
  return isEu(country) ? ruleOf(country)?.prefix : undefined
}
