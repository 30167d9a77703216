import { money } from '../../ui/format.ts'

/** An amount with a minus in front of the sign of the currency. */
export const signed = (minor: number, currency: string): string =>
  minor < 0 ? `−${money(-minor, currency)}` : money(minor, currency)
