import net from 'node:net'

const HEADER_END = '\r\n\r\n'

export interface Answer {
  status: number
  body: string
}

/** One open connection that sends a request at a time. Much cheaper than an HTTP client, because the bench shares the CPU. */
export interface Client {
  ask(request: Buffer): Promise<Answer>
  close(): void
}

/** Opens a connection whose answers are read whole. The service gives each answer a length. */
export function openClient(port: number): Promise<Client> {
  return new Promise((open, refuse) => {
    let heard = ''
    let needed = 0
    let answered = (_answer: Answer) => {}
    let failed: (error: Error) => void = refuse
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true })
    socket.setEncoding('latin1')
    socket.on('data', (text) => {
      heard += text
      if (needed === 0) needed = lengthOf(heard)
      if (needed === 0 || heard.length < needed) return
      const bytes = heard
      heard = ''
      needed = 0
      const body = bytes.slice(bytes.indexOf(HEADER_END) + HEADER_END.length)
      answered({ status: Number(bytes.slice(9, 12)), body: Buffer.from(body, 'latin1').toString() })
    })
    socket.on('error', (error) => failed(error))
    socket.on('close', () => failed(new Error('the service has closed a connection')))
    socket.on('connect', () =>
      open({
        ask: (request) =>
          new Promise((resolve, reject) => {
            if (socket.destroyed) return reject(new Error('the service has closed a connection'))
            answered = resolve
            failed = reject
            socket.write(request)
          }),
        close: () => socket.destroy(),
      }),
    )
  })
}

/** How many bytes the answer has in all, or 0 while its headers are not complete. */
function lengthOf(text: string): number {
  const end = text.indexOf(HEADER_END)
  if (end < 0) return 0
  const length = /^content-length: (\d+)\r?$/im.exec(text.slice(0, end))?.[1]
  if (length === undefined) throw new Error(`an answer without a length:\n${text.slice(0, 1000)}`)
  return end + HEADER_END.length + Number(length)
}
