import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Ends } from '../support/shop.ts'
import { atEnd } from '../support/ends.ts'

type Weather = 'valid' | 'invalid' | 'away' | 'busy' | 'stranger' | 'down' | 'nonsense' | 'another' | 'late'

/** Stands in for the REST interface of VIES, in the weather that a test sets. */
export async function startVies(t: Ends) {
  const asked: Record<string, string>[] = []
  const state = { weather: 'valid' as Weather }
  async function serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, string>
    asked.push({ path: request.url ?? '', ...body })
    const { weather } = state
    // the client gives up before
    if (weather === 'late') return
    const answer = {
      countryCode: body.countryCode,
      vatNumber: weather === 'another' ? '000000000' : body.vatNumber,
      requestDate: '2026-11-25T02:00:00.000Z',
      valid: ['valid', 'another', 'stranger'].includes(weather),
      requestIdentifier: body.requesterNumber ? 'WAPIAAAAYx2lVQnO' : '',
      name: '---',
      address: '---',
    }
    const error = (name: string) => ({ actionSucceed: false, errorWrappers: [{ error: name }] })
    response.writeHead(weather === 'down' ? 503 : 200, { 'content-type': 'application/json' })
    if (weather === 'nonsense' || weather === 'down') response.end('<html>Service Unavailable</html>')
    else if (weather === 'busy') response.end(JSON.stringify(error('MS_MAX_CONCURRENT_REQ')))
    // the number of who asks is not known
    else if (weather === 'stranger' && body.requesterNumber)
      response.end(JSON.stringify(error('INVALID_REQUESTER_INFO')))
    // an older way of saying it: no, and beside it that the member state is away
    else if (weather === 'away') response.end(JSON.stringify({ ...answer, userError: 'MS_UNAVAILABLE' }))
    else response.end(JSON.stringify(answer))
  }
  // the client may give up while its body is read
  const server = http.createServer(
    (request, response) => void serve(request, response).catch(() => request.socket.destroy()),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  atEnd(t, () => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${port}/rest-api`, asked, state, port, server }
}
