import type { MountedForm, MountForm, PlainParts } from './payment-form.ts'

/** The processors whose scripts draw the form. The page loads the code for one when it shows the form. */
const FORMS: Record<string, { origin: string; code: () => Promise<{ mount: MountForm }> }> = {
  stripe: { origin: 'https://js.stripe.com', code: () => import('./stripe-form.ts') },
  razorpay: { origin: 'https://checkout.razorpay.com', code: () => import('./razorpay-form.ts') },
}

/** A script of ours has not arrived. Browsers do not fetch it again until the page is reloaded. */
export let lacksPart = false

const tools = () => import('./form-tools.ts')

export const isDrawnByProcessor = (processor: string | undefined): processor is string =>
  processor !== undefined && Object.hasOwn(FORMS, processor)

/** Rejects when the form cannot be shown: blocked, offline, or never ready. */
export async function openForm(processor: string, place: HTMLElement, parts: PlainParts): Promise<MountedForm> {
  const { origin, code } = FORMS[processor]!
  // The connection is there when our code for the form has arrived and wants the processor's script.
  const line = document.createElement('link')
  line.rel = 'preconnect'
  line.href = origin
  document.head.append(line)
  const [{ mount }, { open }] = await Promise.all([code(), tools()]).catch((error: unknown) => {
    lacksPart = true
    throw error
  })
  return open(mount, place, parts)
}
