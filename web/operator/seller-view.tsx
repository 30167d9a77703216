import { useState } from 'preact/hooks'
import { fileSize } from '../ui/file-size.ts'
import { day } from '../ui/format.ts'
import { TextField } from '../ui/text-field.tsx'
import { useLoad } from '../shop/load.ts'
import { Head, Shown } from '../shop/parts.tsx'
import { type FoundSeller, getSeller, request } from './api.ts'
import { Doing } from './doing.tsx'
import { AdjustBalance } from './adjust-balance.tsx'
import { Entries } from './log-view.tsx'
import { afterApproval, afterSuspension } from './sells-from-now.ts'
import { bytesOf, gigabytesOf } from './gigabytes.ts'
import type { ViewProps } from './view-props.ts'
import { StandingTag } from './sellers-view.tsx'

/** A seller, and the operator's actions. */
export function SellerView({ id }: ViewProps) {
  const seller = useLoad(id, () => getSeller(id))
  return <Shown of={seller}>{(value) => <Details seller={value} again={seller.again} />}</Shown>
}

function Details({ seller, again }: { seller: FoundSeller; again: () => void }) {
  const [changes, setChanges] = useState(0)
  const done = () => {
    setChanges(changes + 1)
    again()
  }
  const { sellerId, name, email, trusted, createdAt, quotaBytes, usedBytes, products, sessions } = seller
  const quota = quotaBytes === null ? 'the service’s quota' : quotaBytes === 0 ? 'no limit' : fileSize(quotaBytes)
  return (
    <>
      <Head title={name} above={<a href="#/sellers">Sellers</a>}>
        <StandingTag of={seller} />
      </Head>
      <dl class="panel facts">
        <dt>Address</dt>
        <dd>{email}</dd>
        <dt>Id</dt>
        <dd>{sellerId}</dd>
        <dt>Since</dt>
        <dd>{day(createdAt)}</dd>
        <dt>Trusted</dt>
        <dd>{trusted ? 'Yes' : 'No'}</dd>
        <dt>Products</dt>
        <dd>{products}</dd>
        <dt>Stored</dt>
        <dd>
          {fileSize(usedBytes)} of {quota}
        </dd>
        <dt>Signed in</dt>
        <dd>{sessions === 1 ? 'in 1 browser' : `in ${sessions} browsers`}</dd>
      </dl>
      <section class="stack" aria-labelledby="doing">
        <h2 id="doing">What you can do</h2>
        <Actions seller={seller} onDone={done} />
      </section>
      <Entries key={changes} subject={sellerId} />
    </>
  )
}

function Actions({ seller, onDone }: { seller: FoundSeller; onDone: () => void }) {
  const { sellerId, standing, trusted } = seller
  const send = (method: string, what: string, body?: object) => async () => {
    await request(method, `sellers/${sellerId}/${what}`, body)
    return 'Done.'
  }
  return (
    <div class="row">
      {trusted ? (
        <Doing
          label="Take the approval back"
          question="Take the approval back?"
          grave
          work={send('DELETE', 'approval')}
          onDone={onDone}
        >
          <p>
            The seller is not trusted any more. A seller who needed an approval waits for one again, and sells nothing.
          </p>
        </Doing>
      ) : (
        <Doing label="Approve" question="Approve this seller?" work={send('PUT', 'approval')} onDone={onDone}>
          <p>{afterApproval(seller)} Mails to buyers may have the seller’s own words.</p>
        </Doing>
      )}
      {standing === 'suspended' ? (
        <Doing
          label="End the suspension"
          question="End the suspension?"
          work={send('DELETE', 'suspension')}
          onDone={onDone}
        >
          <p>{afterSuspension(seller)}</p>
        </Doing>
      ) : (
        <Doing label="Suspend" question="Suspend this seller?" grave work={send('PUT', 'suspension')} onDone={onDone}>
          <p>
            Nothing more is sold. Buyers keep their files, and the seller can still refund them. The seller gets a mail.
          </p>
          <p>
            New runs do not pay the seller. A payout that is approved already goes to the bank all the same: look at the{' '}
            <a href={`#/payouts?status=approved&sellerId=${sellerId}`}>approved payouts of this seller</a>, and choose
            “Do not pay it”.
          </p>
        </Doing>
      )}
      <Quota seller={seller} onDone={onDone} />
      <Doing
        label="Sign out everywhere"
        question="Sign this seller out everywhere?"
        grave
        work={send('DELETE', 'sessions')}
        onDone={onDone}
      >
        <p>Every browser has to sign in again. API keys go on.</p>
      </Doing>
      <Doing
        label="Revoke all API keys"
        question="Revoke all API keys of this seller?"
        grave
        work={send('DELETE', 'keys')}
        onDone={onDone}
      >
        <p>The seller’s programs are refused from this moment.</p>
      </Doing>
      <AdjustBalance sellerId={sellerId} onDone={onDone} />
      <MoreOf sellerId={sellerId} />
    </div>
  )
}

const MoreOf = ({ sellerId }: { sellerId: string }) => (
  <>
    <a class="link" href={`#/orders?sellerId=${sellerId}`}>
      Orders of this seller
    </a>
    <a class="link" href={`#/payouts?sellerId=${sellerId}`}>
      Payouts of this seller
    </a>
  </>
)

function Quota({ seller: { sellerId, quotaBytes }, onDone }: { seller: FoundSeller; onDone: () => void }) {
  const shown = quotaBytes === null ? '' : gigabytesOf(quotaBytes)
  const [typed, setTyped] = useState(shown)
  // The present quota can have any number of decimals.
  const bytes = typed.trim() === '' ? null : typed === shown ? quotaBytes : bytesOf(typed)
  const isWrong = bytes === undefined
  const [tries, setTries] = useState(0)
  const check = () => {
    setTries(tries + 1)
    return !isWrong
  }
  const work = async () => {
    await request('PUT', `sellers/${sellerId}/quota`, { quotaBytes: bytes })
    return 'Done.'
  }
  return (
    <Doing label="Set the quota" question="How much may this seller store?" check={check} work={work} onDone={onDone}>
      <TextField
        id="quota"
        label="Gigabytes"
        hint="Empty: the quota of the service. 0: no limit."
        value={typed}
        onValue={setTyped}
        fault={isWrong ? 'Please enter a number such as 20 or 1.5, without separators.' : undefined}
        tries={tries}
        input={{ inputMode: 'decimal', autoComplete: 'off', maxLength: 12 }}
      />
    </Doing>
  )
}
