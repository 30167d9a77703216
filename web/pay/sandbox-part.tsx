/** @jsxRuntime classic */
/** @jsx page.h */
import type { ComponentType, h } from 'preact'
import type { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiError, call, OrderStatus, Rail } from '../ui/api.ts'
import type { Outcome, PaymentForm } from './payment-form.ts'
import { ABOUT, SCAN, SCENARIOS, SHAPES, upiLink } from './sandbox-words.ts'

// The sandbox's form: the rails, and how its bank behaves. A real buyer never needs it, so the page loads it on demand.

/** What the page passes in: a script that is loaded later cannot import from the page. */
export interface SandboxTools {
  h: typeof h
  useState: typeof useState
  useEffect: typeof useEffect
  useRef: typeof useRef
  call: typeof call
  ApiError: typeof ApiError
  Icon: ComponentType<{ name: 'flask' }>
  Drawing: ComponentType<{ shape: string }>
  WAYS: Record<Rail, string>
  decimalText: (amountMinor: number, currency: string) => string
  /** The code that draws a UPI code. */
  loadDrawer: () => Promise<{ renderSVG: (text: string, options: { border: number }) => string }>
}

export interface SandboxProps {
  order: OrderStatus
  seller: string
  rails: Rail[]
  chosen: Rail
  onChoose: (rail: Rail) => void
  clientSecret: string
  /** The form, once. It pays as chosen at the press on the button. */
  onForm: (form: PaymentForm) => void
}

/** The page's own Preact, which draws the elements of this file, and its functions. */
let page: SandboxTools

export function sandboxPart(tools: SandboxTools): ComponentType<SandboxProps> {
  page = tools
  return SandboxPart
}

function SandboxPart({ clientSecret, onForm, ...more }: SandboxProps) {
  const [scenario, setScenario] = page.useState('success')
  const chosenRef = page.useRef({ clientSecret, rail: more.chosen, scenario })
  // oxlint-disable-next-line react/refs -- a press on the button can come before an effect runs
  chosenRef.current = { clientSecret, rail: more.chosen, scenario }
  page.useEffect(() => onForm({ stays: false, submit: (sending) => pay(chosenRef.current, sending), destroy() {} }), [])
  return (
    <div class="stack">
      <RailChoice {...more} />
      <ScenarioChoice value={scenario} onValue={setScenario} />
    </div>
  )
}

/** The sandbox behind the same port as the processors' forms. Our own service is its bank. */
async function pay(chosen: object, sending: () => void): Promise<Outcome> {
  sending()
  try {
    const { status } = await page.call<{ status: 'captured' | 'processing' }>('/api/sandbox/confirm', chosen)
    return { kind: status }
  } catch (error) {
    const trouble = error instanceof page.ApiError ? error : new page.ApiError({ code: 'unreachable' })
    return REFUSALS[trouble.code] ?? { kind: trouble.unknown ? 'unknown' : 'refused', trouble }
  }
}

/** The first two mean that the money is taken or being taken: by another tab, or by a try whose answer was lost. */
const REFUSALS: Record<string, Outcome> = {
  payment_already_captured: { kind: 'captured' },
  payment_in_progress: { kind: 'processing' },
  payment_declined: { kind: 'declined' },
}

/** One radio list: the arrow keys move in it, and the details of the chosen rail open below its name. */
function RailChoice({ rails, chosen, onChoose, order, seller }: Omit<SandboxProps, 'clientSecret' | 'onForm'>) {
  return (
    <fieldset class="rails">
      <legend class="unseen">Payment method</legend>
      {rails.map((rail) => (
        <div class="rail" key={rail}>
          <label>
            <input type="radio" name="rail" value={rail} checked={rail === chosen} onChange={() => onChoose(rail)} />
            <span>{page.WAYS[rail]}</span>
            <page.Drawing shape={SHAPES[rail]} />
          </label>
          {rail === chosen && (
            <div class="about soft small">
              <p>{ABOUT[rail]}</p>
              {rail === 'upi' && <UpiCode order={order} seller={seller} />}
            </div>
          )}
        </div>
      ))}
    </fieldset>
  )
}

function ScenarioChoice({ value, onValue }: { value: string; onValue: (value: string) => void }) {
  return (
    <div class="sandbox">
      <p class="sandbox-title">
        <page.Icon name="flask" /> Test mode: no money moves, and no number is asked for
      </p>
      <div class="field">
        <label for="scenario">How should the bank behave?</label>
        <select id="scenario" value={value} onChange={(event) => onValue(event.currentTarget.value)}>
          {SCENARIOS.map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </div>
    </div>
  )
}

/** A code to scan at a desk. A phone cannot scan itself, so it gets a link to the app. */
function UpiCode({ order, seller }: Pick<SandboxProps, 'order' | 'seller'>) {
  const link = upiLink({ ...order, amount: page.decimalText(order.amount, order.currency) }, seller)
  if (matchMedia('(pointer: coarse)').matches)
    return (
      <a class="button" href={link}>
        Open your UPI app
      </a>
    )
  return (
    <div>
      <Code text={link} />
      <p>{SCAN}</p>
    </div>
  )
}

/** Drawing a code takes a fifth of the page's script, and few buyers need one, so it is loaded on demand again. */
function Code({ text }: { text: string }) {
  const [drawing, setDrawing] = page.useState<string>()
  page.useEffect(() => {
    page.loadDrawer().then(
      ({ renderSVG }) => setDrawing(renderSVG(text, { border: 3 })),
      // Without the drawing, the text below it still says what to do.
      () => {},
    )
  }, [text])
  return drawing ? (
    <img
      class="code"
      src={`data:image/svg+xml,${encodeURIComponent(drawing)}`}
      alt="UPI code"
      width="176"
      height="176"
    />
  ) : (
    <div class="code" />
  )
}
