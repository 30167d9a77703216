import { useRef, useState } from 'preact/hooks'
import type { Loaded } from '../shop/load.ts'
import { Failed } from '../shop/parts.tsx'
import { changeMailSettings, type SaleMails } from '../ui/auth-api.ts'
import type { Account } from './account.ts'
import { useAction } from '../ui/action.ts'
import { Part, Refused, Saved } from './part.tsx'

const CHOICES: [SaleMails, name: string, about: string][] = [
  ['each', 'For each sale', 'Within a minute or two; many at once are one mail. Free orders come once a day.'],
  ['daily', 'Once a day', 'One mail with all that was sold.'],
  ['off', 'Never', 'Your shop’s page still shows every sale.'],
]

/** Which mails about sales the seller gets. A choice is saved as soon as it is made. */
export function MailsPart({ account, loaded }: { account: Account; loaded: Loaded<{ saleMails: SaleMails }> }) {
  const [chosen, setChosen] = useState<SaleMails>()
  const newestRef = useRef<SaleMails | undefined>(undefined)
  const action = useAction()
  const saved = loaded.value?.saleMails
  const choose = (to: SaleMails) => {
    setChosen(to)
    newestRef.current = to
    // A choice that is made while another one is being saved is saved after it.
    void action.run(async () => {
      try {
        for (let sent: SaleMails | undefined; sent !== newestRef.current;) {
          const next = newestRef.current!
          loaded.put(await account.asSeller(() => changeMailSettings(next)))
          sent = next
        }
      } finally {
        setChosen(undefined)
      }
      return 'Saved.'
    })
  }
  return (
    <Part
      id="mails"
      title="Mails about sales"
      about="Mails about what needs you, such as a dispute or a refund that failed, always come."
    >
      {loaded.trouble ? <Failed trouble={loaded.trouble} again={loaded.again} /> : null}
      <fieldset class="choices" disabled={saved === undefined}>
        <legend class="unseen">Tell me of sales</legend>
        {CHOICES.map(([value, name, about]) => (
          <label key={value} class="choice">
            <input
              type="radio"
              name="sale-mails"
              value={value}
              checked={(chosen ?? saved) === value}
              aria-labelledby={`mails-${value}`}
              aria-describedby={`mails-${value}-about`}
              onChange={() => choose(value)}
            />
            <span>
              <span id={`mails-${value}`}>{name}</span>
              <span id={`mails-${value}-about`} class="soft small">
                {about}
              </span>
            </span>
          </label>
        ))}
      </fieldset>
      <Refused action={action} />
      <Saved>{action.said}</Saved>
    </Part>
  )
}
