import { type ComponentChildren, render } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { decimalText } from '../../src/kit/money.ts'
import { ApiError, call, type OrderStatus, type Rail } from '../ui/api.ts'
import { Drawing, Icon } from '../ui/icon.tsx'
import { wordsOf } from '../ui/language.ts'
import { WAYS } from '../ui/words.ts'
import { hasWallet } from './device-wallets.ts'
import type { Fault, MountedForm, Outcome, PaymentForm } from './payment-form.ts'
import { CardFields, type Faults, TestCards } from './sandbox-card.tsx'
import { CARDS, type Card, faultsOf, NO_CARD, scenarioOf } from './sandbox-cards.ts'
import type { PageWallets } from './use-wallets.ts'
import { ABOUT, FAULTS, SCAN, SHAPES, upiLink } from './sandbox-words.ts'

// The sandbox's form: the rails, and how its bank behaves. A real buyer never needs it, so the page loads it on demand.

const words = wordsOf('pay')

export interface SandboxProps {
  order: Pick<OrderStatus, 'amount' | 'currency'> & { orderId?: string }
  seller: string
  rails: Rail[]
  chosen: Rail
  onChoose: (rail: Rail) => void
  /** The form, once. It pays as chosen at the press on the button. */
  onForm: (form: MountedForm) => void
  wallets: PageWallets
}

export function SandboxPart({ onForm, wallets, ...more }: SandboxProps) {
  const [scenario, setScenario] = useState('success')
  const [card, setCard] = useState(NO_CARD)
  const [faults, setFaults] = useState<Faults>({})
  const isCard = more.chosen === 'card'
  const chosenRef = useRef({ rail: more.chosen, scenario, card })
  // A press on the button can come before an effect runs.
  chosenRef.current = { rail: more.chosen, scenario, card }
  /** The fields are looked at before there is an order. Only a number of the list goes on, and none leaves the browser. */
  async function check(): Promise<Fault | undefined> {
    const { rail, card } = chosenRef.current
    const found = rail === 'card' ? faultsOf(card) : {}
    setFaults(found)
    const [first] = Object.keys(found)
    if (!first) return undefined
    // A real number does not stay on the screen.
    if (found.number) setCard({ ...card, number: '' })
    document.getElementById(`card-${first}`)?.focus()
    return { kind: 'invalid', message: FAULTS[Object.values(found)[0]!] }
  }
  useEffect(
    () =>
      onForm({
        stays: false,
        check,
        submit: ({ clientSecret }, sending) => pay(clientSecret, chosenRef.current, sending),
        destroy() {},
      }),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the form is told once, and reads the choice at the press
    [],
  )
  const press = (rail: Rail) => {
    // The sandbox's wallets know no address.
    if (!wallets.open(false)) return
    const { scenario, card } = chosenRef.current
    const form: PaymentForm = {
      stays: false,
      check: () => Promise.resolve(undefined),
      submit: ({ clientSecret }, sending) => pay(clientSecret, { rail, scenario, card }, sending),
      fits: ({ processor }) => processor === 'sandbox',
      destroy() {},
    }
    void wallets.confirm(form, { rail })
  }
  const here = more.rails.filter(hasWallet)
  const list = here.join()
  useEffect(() => {
    if (!list) return
    const { place } = wallets
    render(<WalletButtons rails={here} onPress={press} />, place)
    wallets.show(true)
    return () => {
      render(null, place)
      wallets.show(false)
    }
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- `list` says which buttons there are
  }, [list])
  const type = (change: Partial<Card>) => {
    setCard({ ...card, ...change })
    setFaults({})
  }
  return (
    <div class="stack">
      <RailChoice {...more} rails={more.rails.filter((rail) => !isWallet(rail))}>
        {isCard && <CardFields card={card} faults={faults} onType={type} />}
      </RailChoice>
      <details class="sandbox">
        <summary class="sandbox-title">
          <Icon name="flask" /> {words.sandboxTitle}
        </summary>
        {isCard ? <TestCards onCard={type} /> : <ScenarioChoice value={scenario} onValue={setScenario} />}
      </details>
    </div>
  )
}

/** The wallets of devices have buttons of their own. */
const isWallet = (rail: Rail): boolean => rail === 'apple_pay' || rail === 'google_pay'

/** Without the brands' marks, which only their own buttons may bear. */
const WalletButtons = ({ rails, onPress }: { rails: Rail[]; onPress: (rail: Rail) => void }) => (
  <div class="wallet-buttons">
    {rails.map((rail) => (
      <button type="button" key={rail} onClick={() => onPress(rail)}>
        {WAYS[rail]}
      </button>
    ))}
  </div>
)

/** The sandbox behind the same port as the processors' forms. Our own service is its bank. */
async function pay(
  clientSecret: string,
  { rail, scenario, card }: { rail: Rail; scenario: string; card: Card },
  sending: () => void,
): Promise<Outcome> {
  sending()
  try {
    const { status } = await call<{ status: 'captured' | 'processing' }>('/api/sandbox/confirm', {
      clientSecret,
      rail,
      scenario: rail === 'card' ? scenarioOf(card.number) : scenario,
    })
    return { kind: status }
  } catch (error) {
    const trouble = error instanceof ApiError ? error : new ApiError({ code: 'unreachable' })
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
function RailChoice({
  rails,
  chosen,
  onChoose,
  order,
  seller,
  children,
}: Omit<SandboxProps, 'onForm' | 'wallets'> & { children: ComponentChildren }) {
  return (
    <fieldset class="rails">
      <legend class="unseen">{words.method}</legend>
      {rails.map((rail) => (
        <div class="rail" key={rail}>
          <label>
            <input
              type="radio"
              name="rail"
              value={rail}
              checked={rail === chosen}
              aria-labelledby={`rail-${rail}`}
              aria-describedby={rail === 'card' ? 'rail-kinds' : undefined}
              onChange={() => onChoose(rail)}
            />
            <span>
              <span id={`rail-${rail}`}>{WAYS[rail]}</span>{' '}
              {rail === 'card' && (
                <small class="soft" id="rail-kinds">
                  {words.sandboxKinds}
                </small>
              )}
            </span>
            <Drawing shape={SHAPES[rail]} />
          </label>
          {rail === chosen && (
            <div class="about soft small">
              {rail === 'card' ? children : <p>{ABOUT[rail]}</p>}
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
    <div class="field" dir="ltr" lang="en">
      <label for="scenario">How should the bank behave?</label>
      <select id="scenario" value={value} onChange={(event) => onValue(event.currentTarget.value)}>
        {CARDS.map(([, name, label]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
    </div>
  )
}

/** A code to scan at a desk. A phone cannot scan itself, so it gets a link to the app. */
function UpiCode({ order, seller }: Pick<SandboxProps, 'order' | 'seller'>) {
  const link = upiLink({ ...order, amount: decimalText(order.amount, order.currency) }, seller)
  if (matchMedia('(pointer: coarse)').matches)
    return (
      <a class="button" href={link}>
        Open your UPI app
      </a>
    )
  return (
    <div>
      <Code text={link} />
      <p dir="ltr" lang="en">
        {SCAN}
      </p>
    </div>
  )
}

/** Drawing a code takes a fifth of the page's script, and few buyers need one, so it is loaded on demand again. */
function Code({ text }: { text: string }) {
  const [drawing, setDrawing] = useState<string>()
  useEffect(() => {
    import('uqr').then(
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
