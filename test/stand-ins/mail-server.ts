import { once } from 'node:events'
import type net from 'node:net'
import type { Readable } from 'node:stream'
import { sql } from 'kysely'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { type Ends, type TestShop, eventually } from '../support/shop.ts'

/** A mail server's reply, as an error for its library. */
export const says = (responseCode: number, text: string) => Object.assign(new Error(text), { responseCode })

export interface MailServer {
  url: string
  /** Every message that reached it whole, and for whom. */
  mails: { to: string[]; mail: Email }[]
}

/**
 * A real mail server, which `behaviour` makes a bad one. A test starts it before the service. It ends before the service, too, so that
 * no mail that it holds back keeps the service from ending.
 */
export async function startMailServer(t: Ends, behaviour: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: MailServer['mails'] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    // connections that are kept for the next mail end with the server
    closeTimeout: 50,
    onData: (stream, { envelope }, done) => {
      void parsed(stream).then((mail) => {
        mails.push({ to: envelope.rcptTo.map(({ address }) => address), mail })
        done()
      }, done)
    },
    ...behaviour,
  })
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  t.after(() => new Promise<void>((resolve) => server.close(resolve)))
  return { url: `smtp://127.0.0.1:${(server.server.address() as net.AddressInfo).port}`, mails }
}

export const parsed = async (stream: Readable): Promise<Email> =>
  PostalMime.parse(Buffer.concat(await stream.toArray()))

/** Lets the pause after each failed delivery be over until it is as wanted. A slow machine meets tries that began by themselves. */
export const deliverUntil = <T>({ db }: TestShop, ask: () => T | Promise<T>, wanted: (answer: T) => boolean) =>
  eventually(async () => {
    await sql`
      with due as (
        update pgboss.job set start_after = now() - interval '1 second'
        where state = 'retry' and start_after > now() returning name)
      select pg_notify('pgboss_' || left(encode(sha224('pgboss'::bytea), 'hex'), 24), name) from due`.execute(db)
    return ask()
  }, wanted)
