import type { MountForm, PaymentForm, PlainParts } from './payment-form.ts'

/** The processors whose own scripts draw the form. Each way to use one is loaded when an order needs it. */
const FORMS: Record<string, { origin: string; code: () => Promise<{ mount: MountForm }> }> = {
  stripe: { origin: 'https://js.stripe.com', code: () => import('./stripe-form.ts') },
  razorpay: { origin: 'https://checkout.razorpay.com', code: () => import('./razorpay-form.ts') },
}

/** A part of our own has not arrived: browsers do not ask for it again until the page is loaded anew. */
export let lacksPart = false

const tools = () => import('./form-tools.ts')

export const isDrawnByProcessor = (processor: string | undefined): processor is string =>
  processor !== undefined && Object.hasOwn(FORMS, processor)

/** While the order is being made: our own part of the form, and the line to the processor, but none of its scripts yet. */
export function prepareForm(processor: string | undefined): void {
  if (!isDrawnByProcessor(processor)) return
  const { origin, code } = FORMS[processor]!
  // what fails now is tried again when it is needed
  Promise.all([code(), tools()]).catch(() => {})
  const line = document.createElement('link')
  line.rel = 'preconnect'
  line.href = origin
  document.head.append(line)
}

/** Rejects when the form cannot be shown: blocked, offline, or never ready. */
export async function openForm(processor: string, place: HTMLElement, parts: PlainParts): Promise<PaymentForm> {
  const [{ mount }, { open }] = await Promise.all([FORMS[processor]!.code(), tools()]).catch((error: unknown) => {
    lacksPart = true
    throw error
  })
  return open(mount, place, parts)
}
