import { useLayoutEffect, useState } from 'preact/hooks'
import { useLoad } from '../shop/load.ts'
import { getMailSettings } from '../ui/auth-api.ts'
import type { Account } from './account.ts'
import { getBrand } from './brand-api.ts'
import { getInvoiceProfile } from './invoices-api.ts'
import { getTax } from './tax-api.ts'

/**
 * The seller's settings, each loaded by itself. `areHere`: each has arrived or failed once. The page shows its parts then,
 * because a part that arrives later moves those below it under a press.
 */
export function useSettings({ asSeller }: Account) {
  const settings = {
    brand: useLoad('brand', () => asSeller(getBrand)),
    tax: useLoad('tax', () => asSeller(getTax)),
    invoices: useLoad('invoices', () => asSeller(getInvoiceProfile)),
    mails: useLoad('mails', () => asSeller(getMailSettings)),
  }
  const hasAll = Object.values(settings).every(({ value, trouble }) => value !== undefined || trouble !== undefined)
  // Another try of one that failed must not take away the others, with what is typed there.
  const [areHere, setHere] = useState(false)
  useLayoutEffect(() => {
    if (hasAll) setHere(true)
  }, [hasAll])
  return { ...settings, areHere }
}
