import { useState } from 'preact/hooks'
import { useAction } from '../../../ui/action.ts'
import { ApiError } from '../../../ui/api.ts'
import { TextField } from '../../../ui/text-field.tsx'
import { isRefusal } from '../../api.ts'
import { useLoad } from '../../load.ts'
import { Refused, Shown } from '../../parts.tsx'
import { Section, focusSection } from '../section.tsx'
import { addSite, getSites, removeSite } from './sites-api.ts'

/** The seller's own sites: they may show the checkout in a frame, and an order may lead there. */
export function SitesSection() {
  const sites = useLoad('sites', getSites)
  const removing = useAction()
  const remove = (host: string) =>
    removing.run(async () => {
      await removeSite(host).catch((trouble: unknown) => {
        // another tab was first
        if (!isRefusal(trouble, 'site_not_found')) throw trouble
      })
      sites.again()
      focusSection('sites')
      return ''
    }, host)
  return (
    <Section
      id="sites"
      title="Your sites"
      about="Only these sites may show the checkout in a frame, and an order may send the buyer back only to them."
    >
      <SiteForm onAdded={sites.again} />
      <Shown of={sites}>
        {({ items }) =>
          items.length > 0 ? (
            <ul class="rows keys" aria-label="Your sites">
              {items.map(({ host }) => (
                <li key={host}>
                  <div class="key-head">
                    <code>{host}</code>
                    <button
                      type="button"
                      class="link small"
                      aria-disabled={removing.busy ? 'true' : undefined}
                      onClick={() => void remove(host)}
                    >
                      Remove<span class="unseen"> {host}</span>
                    </button>
                  </div>
                </li>
              ))}
            </ul>
          ) : (
            <p class="soft">No site yet. Without one the checkout opens in the whole window.</p>
          )
        }
      </Shown>
      <Refused action={removing} />
    </Section>
  )
}

function SiteForm({ onAdded }: { onAdded: () => void }) {
  const [host, setHost] = useState('')
  const [fault, setFault] = useState<string>()
  const adding = useAction()
  const submit = (event: Event) => {
    event.preventDefault()
    const typed = hostOf(host)
    setFault(typed === '' ? 'Name your site, such as shop.example.' : undefined)
    if (typed === '') return
    void adding.run(async () => {
      try {
        await addSite(typed)
      } catch (trouble) {
        // the service says what is wrong with the host
        if (!(trouble instanceof ApiError) || !(trouble.status === 422 || trouble.status === 409)) throw trouble
        setFault(trouble.message)
        return ''
      }
      setHost((present) => (present === host ? '' : present))
      onAdded()
      return ''
    })
  }
  return (
    <form class="stack" noValidate onSubmit={submit}>
      <TextField
        id="site"
        label="Host"
        hint="With “*.” in front, all names below it. For a try on your own machine: localhost:3000."
        value={host}
        onValue={(value) => {
          setHost(value)
          setFault(undefined)
          adding.clear()
        }}
        fault={fault}
        tries={adding.tries}
        input={{ inputMode: 'url', autoComplete: 'off', maxLength: 300, placeholder: 'shop.example' }}
      />
      <Refused action={adding} />
      <div class="row">
        <button type="submit" class="button" aria-disabled={adding.busy ? 'true' : undefined}>
          {adding.busy && <span class="spinner" aria-hidden="true" />}
          Add the site
        </button>
      </div>
    </form>
  )
}

/** People paste the address of a page. The host of it is the site. */
function hostOf(typed: string): string {
  const text = typed.trim()
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text).host : text
}
