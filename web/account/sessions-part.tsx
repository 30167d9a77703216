import { moment } from '../ui/format.ts'
import { providerName } from '../ui/auth-words.ts'
import type { SessionEntry } from '../ui/auth-api.ts'
import { Shown } from '../shop/parts.tsx'
import type { Account, ListOf } from './account.ts'
import { useAction } from '../ui/action.ts'
import { Do, Part, Refused, Saved } from './part.tsx'

const BY: Record<SessionEntry['method'], string> = {
  code: 'a code',
  password: 'the password',
  idp: providerName,
}

export function SessionsPart({ account, loaded }: { account: Account; loaded: ListOf<SessionEntry> }) {
  const action = useAction()
  const others = loaded.value?.filter((one) => !one.current) ?? []
  const end = (which: string, work: () => Promise<void>, said: string) =>
    void action.run(async () => {
      await work()
      // The pressed button has left the page.
      document.getElementById('sessions-title')?.focus()
      return said
    }, which)
  return (
    <Part
      id="sessions"
      title="Where you are signed in"
      about={
        <>
          A browser that you do not know, or no longer use? End its session, and it has to sign in again. Programs with
          an API key are not here: <a href="/shop/#/developers">revoke the keys</a> that you do not know.
        </>
      }
    >
      <Shown of={loaded}>
        {(sessions) => (
          <ul class="entries">
            {sessions.map((one) => (
              <li key={one.id}>
                <div>
                  <p class="name">
                    {one.browser} {one.current && <span class="tag here">This one</span>}
                  </p>
                  <p class="soft small">
                    Signed in with {BY[one.method]}, {moment(one.createdAt)}
                    {!one.current && (
                      <>
                        <br />
                        Last used {moment(one.lastSeenAt)}
                      </>
                    )}
                  </p>
                </div>
                {!one.current && (
                  <Do
                    busy={action.doing === one.id}
                    onClick={() =>
                      end(one.id, () => account.endSession(one.id), `The session on ${one.browser} has ended.`)
                    }
                    label={`End the session on ${one.browser}, last used ${moment(one.lastSeenAt)}`}
                  >
                    End
                  </Do>
                )}
              </li>
            ))}
          </ul>
        )}
      </Shown>
      <Refused action={action} />
      <div class="row">
        {others.length > 1 && (
          <Do
            busy={action.doing === 'others'}
            onClick={() => end('others', account.endOthers, 'All other sessions have ended.')}
          >
            End all others
          </Do>
        )}
        <Saved>{action.said}</Saved>
      </div>
    </Part>
  )
}
