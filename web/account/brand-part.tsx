import { useState } from 'preact/hooks'
import { themeOf } from '../../src/sellers/accent.ts'
import { useAction } from '../ui/action.ts'
import { TextField } from '../ui/text-field.tsx'
import type { Loaded } from '../shop/load.ts'
import { Shown } from '../shop/parts.tsx'
import type { Account } from './account.ts'
import { type Brand, type BrandChange, changeBrand, getBrand } from './brand-api.ts'
import { LogoField } from './logo-field.tsx'
import { Do, Part, Refused, Saved } from './part.tsx'
import { useTypedOver } from './typed.ts'

const LINKS = [
  ['websiteUrl', 'Your website'],
  ['termsUrl', 'Your terms'],
  ['privacyUrl', 'Your privacy notice'],
] as const
/** How a ticked box stands among the typed texts. */
const YES = 'yes'
const OWN_COLOUR = '#0a6248'
/** The `--paper` of our pages, see web/ui/base.css. */
const GROUNDS = { light: '#fffefc', dark: '#181c1b' }

type Typed = Record<'accent' | 'websiteUrl' | 'termsUrl' | 'privacyUrl' | 'refundPolicy' | 'asksConsent', string>

const typedOf = (brand: Brand): Typed => ({
  accent: brand.accent ?? '',
  websiteUrl: brand.websiteUrl ?? '',
  termsUrl: brand.termsUrl ?? '',
  privacyUrl: brand.privacyUrl ?? '',
  refundPolicy: brand.refundPolicy ?? '',
  asksConsent: brand.asksConsent ? YES : '',
})

/** Only the changed members, so that changes from another tab to other fields stay. */
function changesOf({ asksConsent, ...texts }: Partial<Typed>): BrandChange {
  return {
    ...Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, value.trim() || null])),
    ...(asksConsent !== undefined && { asksConsent: asksConsent === YES }),
  }
}

/** How the payment page, the order page and the receipts look to buyers. */
export function BrandPart({ account, loaded }: { account: Account; loaded: Loaded<Brand> }) {
  return (
    <Part
      id="brand"
      title="Your brand"
      about="Buyers see it on the payment page, on the page of their order, and on receipts. Colours are adjusted so that everybody can read them."
    >
      <Shown of={loaded}>
        {(brand) => (
          <>
            <LogoField account={account} brand={brand} onChanged={loaded.put} />
            <BrandForm account={account} brand={brand} onChanged={loaded.put} />
          </>
        )}
      </Shown>
    </Part>
  )
}

interface FormProps {
  account: Account
  brand: Brand
  onChanged: (brand: Brand) => void
}

function BrandForm({ account, brand, onChanged }: FormProps) {
  const form = useTypedOver(account, 'brand-form', typedOf(brand))
  const { typed } = form
  const [faults, setFaults] = useState<Partial<Typed>>({})
  const [pressed, setPressed] = useState(0)
  const action = useAction()
  const change = (field: keyof Typed, value: string) => {
    form.change({ [field]: value })
    setFaults({ ...faults, [field]: undefined })
    action.clear()
  }
  const submit = (event: Event) => {
    event.preventDefault()
    setPressed(pressed + 1)
    const wrong = faultsOf(typed)
    setFaults(wrong)
    if (Object.keys(wrong).length > 0) return
    const changes = changesOf(form.changes)
    void action.run(async () => {
      const changed = await account.asSeller(() =>
        Object.keys(changes).length > 0 ? changeBrand(changes) : getBrand(),
      )
      onChanged(changed)
      form.settle(typedOf(changed))
      return 'Saved. Buyers see it from now on.'
    })
  }
  return (
    <form class="stack" noValidate onSubmit={submit}>
      <AccentField
        value={typed.accent}
        fault={faults.accent}
        tries={pressed}
        onValue={(value) => change('accent', value)}
      />
      {LINKS.map(([name, label]) => (
        <TextField
          key={name}
          id={`brand-${name}`}
          label={label}
          value={typed[name]}
          onValue={(value) => change(name, value)}
          fault={faults[name]}
          tries={pressed}
          input={{ type: 'url', inputMode: 'url', maxLength: 500, placeholder: 'https://' }}
        />
      ))}
      <PolicyField value={typed.refundPolicy} onValue={(value) => change('refundPolicy', value)} />
      <ConsentField isOn={typed.asksConsent === YES} onValue={(isOn) => change('asksConsent', isOn ? YES : '')} />
      <Refused action={action} />
      <div class="row">
        <Do submit busy={action.busy}>
          Save the brand
        </Do>
        <Saved>{action.said}</Saved>
      </div>
    </form>
  )
}

const PolicyField = ({ value, onValue }: { value: string; onValue: (value: string) => void }) => (
  <div class="field">
    <label for="brand-policy">Refund policy</label>
    <p class="soft small" id="brand-policy-hint">
      In your own words. Buyers can open it before they pay.
    </p>
    <div class="input">
      <textarea
        id="brand-policy"
        rows={3}
        maxLength={1000}
        aria-describedby="brand-policy-hint"
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    </div>
  </div>
)

const ConsentField = ({ isOn, onValue }: { isOn: boolean; onValue: (isOn: boolean) => void }) => (
  <label class="choice">
    <input type="checkbox" checked={isOn} onChange={(event) => onValue(event.currentTarget.checked)} />
    <span>
      Ask buyers to agree that they get the files at once and lose their right of withdrawal
      <span class="soft small"> For sales to consumers in the EU. Ask a lawyer whether you need it.</span>
    </span>
  </label>
)

const isColour = (text: string): boolean => /^#[0-9a-f]{6}$/i.test(text.trim())

function faultsOf(typed: Typed): Partial<Typed> {
  const faults: Partial<Typed> = {}
  if (typed.accent.trim() && !isColour(typed.accent)) faults.accent = 'Enter a colour such as #0a6248.'
  for (const [name] of LINKS) {
    const text = typed[name].trim()
    if (text && !(URL.canParse(text) && new URL(text).protocol === 'https:'))
      faults[name] = 'Enter a whole address that begins with https://.'
  }
  return faults
}

interface AccentProps {
  value: string
  fault: string | undefined
  tries: number
  onValue: (value: string) => void
}

/** The colour as text, with the picker of the browser beside it, and how it looks in the light and in the dark. */
function AccentField({ value, fault, tries, onValue }: AccentProps) {
  const shown = isColour(value) ? value.trim().toLowerCase() : OWN_COLOUR
  const { accent, onAccent } = themeOf(shown)
  return (
    <>
      <TextField
        id="brand-accent"
        label="Colour"
        hint="Leave it empty for ours."
        value={value}
        onValue={onValue}
        fault={fault}
        tries={tries}
        input={{ maxLength: 7, placeholder: OWN_COLOUR }}
        end={
          <input
            type="color"
            class="swatch"
            aria-label="Choose the colour"
            value={shown}
            onInput={(event) => onValue(event.currentTarget.value)}
          />
        }
      />
      <div class="looks" aria-hidden="true">
        {(['light', 'dark'] as const).map((scheme) => (
          <span key={scheme} class="look" style={{ colorScheme: scheme, background: GROUNDS[scheme] }}>
            <span class="look-button" style={{ background: accent, color: onAccent }}>
              Pay
            </span>
            <span style={{ color: accent }}>A link</span>
          </span>
        ))}
      </div>
    </>
  )
}
