// The script of a seller's own site: <script async src="{app}/till.js"></script>. It opens links that have `data-till` in a frame
// over the page, or in it with data-till="inline". Where that is not possible they stay links. It runs under a strict
// Content-Security-Policy and Trusted Types: it writes no markup and no style attribute, and needs the checkout's address in
// `script-src` and `frame-src` only.

/** A frame that has not said "ready" by then is blocked by the site's policy or an extension, or the host is no site of the seller. */
const PATIENCE_MS = 3000
/** A frame that answers a question by then is alive. */
const ANSWER_MS = 2000
/** A frame that shows nothing is not useful, and one that is higher than this is wrong. */
const HEIGHT = { least: 200, most: 5000 }
const STYLE = `
dialog{position:fixed;inset:0;margin:auto;padding:0;border:0;width:100%;max-width:29rem;height:100%;max-height:min(100dvh,56rem);box-sizing:border-box;border-radius:12px;overflow:hidden;background:Canvas;color:CanvasText;color-scheme:light dark}
dialog[open]{display:flex;flex-direction:column;align-items:end}
dialog::backdrop{background:rgb(0 0 0/55%)}
iframe{flex:1;border:0;width:100%;color-scheme:light dark}
p{position:absolute;inset:0;margin:0;display:grid;place-items:center;font:1rem/1.5 system-ui,sans-serif}
p[hidden]{display:none}
button{z-index:1;flex:none;width:44px;height:44px;border:0;background:none;color:inherit;font:1.5rem/1 system-ui,sans-serif;cursor:pointer}
button:focus-visible{outline:2px solid Highlight;outline-offset:-4px}
@media(max-width:32rem){dialog{max-width:none;max-height:none;border-radius:0}}
@media(prefers-reduced-motion:no-preference){dialog[open]{animation:rise .18s ease-out}@keyframes rise{from{opacity:0;transform:translateY(8px)}}}`

interface Frame {
  element: HTMLIFrameElement
  /** Gets the events and the focus. */
  link: HTMLAnchorElement
  /** Whether the checkout is there and listens. */
  isReady: () => boolean
  ask: () => void
  end: () => void
}

interface Listener {
  ready?: () => void
  size?: (height: number) => void
  /** `keep`: the frame has an order that may still be paid. */
  closed?: (keep: boolean) => void
  late: () => void
}

const pay = new URL('pay/', (document.currentScript as HTMLScriptElement).src)
const isOurs = (link: HTMLAnchorElement) => link.href.startsWith(`${pay.href}?`)

/** Where the page hears of the checkout. A page that was drawn anew has another link in the place of the pressed one, or none. */
const placeOf = (link: HTMLAnchorElement): HTMLAnchorElement | Document =>
  link.isConnected
    ? link
    : ([...document.querySelectorAll<HTMLAnchorElement>('a[data-till]')].find(({ href }) => href === link.href) ??
      document)
const tell = (link: HTMLAnchorElement, name: string, detail?: object) =>
  placeOf(link).dispatchEvent(new CustomEvent(`till:${name}`, { bubbles: true, detail }))
const focusOn = (link: HTMLAnchorElement) => {
  const place = placeOf(link)
  if (place instanceof HTMLElement) place.focus()
}

/** The checkout of a link in a frame. It talks only to that frame, and only with the checkout's own origin. */
function open(link: HTMLAnchorElement, listener: Listener): Frame {
  const element = document.createElement('iframe')
  const address = new URL(link.href)
  address.searchParams.set('embed', '1')
  address.searchParams.set('host', location.origin)
  element.title = link.title || 'Checkout'
  element.allow = 'payment; publickey-credentials-get; clipboard-write'
  element.referrerPolicy = 'no-referrer'
  // A page that isolates itself may show only frames without credentials, and the checkout needs none.
  if (crossOriginIsolated) Object.assign(element, { credentialless: true })
  element.src = address.href
  let ready = false
  let silence: ReturnType<typeof setTimeout> | undefined
  const end = () => {
    clearTimeout(timer)
    clearTimeout(silence)
    removeEventListener('message', hear)
    removeEventListener('securitypolicyviolation', blocked)
  }
  const late = () => {
    end()
    listener.late()
  }
  const timer = setTimeout(late, PATIENCE_MS)
  const blocked = ({ blockedURI, disposition, effectiveDirective }: SecurityPolicyViolationEvent) => {
    const isFrame = effectiveDirective === 'frame-src' && blockedURI.startsWith(pay.origin)
    if (!ready && disposition === 'enforce' && isFrame) late()
  }
  const hear = ({ source, origin, data }: MessageEvent) => {
    if (source !== element.contentWindow || origin !== pay.origin || typeof data !== 'object' || !data) return
    const { till, height, orderId, keep } = data
    clearTimeout(silence)
    silence = undefined
    if (till === 'ready') {
      clearTimeout(timer)
      ready = true
      listener.ready?.()
      tell(frame.link, 'ready')
    } else if (till === 'size' && height > 0) {
      listener.size?.(Math.min(Math.max(Math.ceil(height), HEIGHT.least), HEIGHT.most))
    } else if (till === 'paid') {
      tell(frame.link, 'paid', { orderId: String(orderId) })
    } else if (till === 'closed') {
      listener.closed?.(keep === true)
    } else if (till === 'late') {
      late()
    }
  }
  addEventListener('message', hear)
  addEventListener('securitypolicyviolation', blocked)
  const frame: Frame = {
    element,
    link,
    isReady: () => ready,
    ask() {
      // a frame whose page could not be loaded again answers nothing, and must not stay over the site
      silence ??= setTimeout(() => listener.closed?.(false), ANSWER_MS)
      element.contentWindow?.postMessage({ till: 'close' }, pay.origin)
    },
    end,
  }
  return frame
}

/**
 * The closed overlays whose order may still be paid, by the addresses of their links. Only the frame knows its order, because it has no
 * storage: a new frame would make another order, and the buyer could pay twice.
 */
const kept = new Map<string, { place: Element; show: (link: HTMLAnchorElement) => void }>()

function overlay(link: HTMLAnchorElement): void {
  const before = kept.get(link.href)
  if (before?.place.isConnected) return before.show(link)
  const { href } = link
  const { place, dialog, button, words } = newDialog()
  const { style } = document.documentElement
  let overflow = ''
  let isShown = false

  const show = (opener: HTMLAnchorElement) => {
    frame.link = opener
    isShown = true
    overflow = style.overflow
    style.overflow = 'hidden'
    dialog.showModal()
    if (frame.isReady()) frame.element.focus()
  }
  const hide = () => {
    if (!isShown) return
    isShown = false
    dialog.close()
    style.overflow = overflow
  }
  const end = () => {
    gone.disconnect()
    frame.end()
    hide()
    place.remove()
    kept.delete(href)
  }
  const frame = open(link, {
    ready() {
      words.hidden = true
      frame.element.focus()
    },
    closed(keep) {
      if (!isShown) return
      if (keep) {
        hide()
        kept.set(href, { place, show })
      } else end()
      focusOn(frame.link)
      tell(frame.link, 'closed')
    },
    late() {
      const wasShown = isShown
      end()
      // a frame that the buyer has closed leads to no other page
      if (wasShown) location.assign(href)
    },
  })
  /** The checkout itself decides: while a bank may be at work it stays. */
  const close = () => {
    if (frame.isReady()) return frame.ask()
    end()
    focusOn(frame.link)
  }

  button.addEventListener('click', close)
  dialog.ariaLabel = frame.element.title
  dialog.addEventListener('cancel', (event) => {
    event.preventDefault()
    close()
  })
  // A browser closes a dialog on the second try whatever its page says.
  dialog.addEventListener('close', () => isShown && dialog.showModal())
  dialog.append(frame.element)
  document.body.append(place)
  // a site that puts another body into its page takes the overlay away without a word
  const gone = new MutationObserver(() => place.isConnected || end())
  gone.observe(document, { childList: true, subtree: true })
  show(link)
}

function newDialog() {
  const place = document.createElement('div')
  const root = place.attachShadow({ mode: 'open' })
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(STYLE)
  root.adoptedStyleSheets = [sheet]
  const dialog = document.createElement('dialog')
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = '×'
  button.ariaLabel = 'Close the checkout'
  const words = document.createElement('p')
  words.textContent = 'Opening the checkout…'
  words.role = 'status'
  dialog.append(button, words)
  root.append(dialog)
  return { place, dialog, button, words }
}

/** The checkout in the page, in the link's place. The link comes back where no frame is possible. A buyer who pressed it goes on there. */
function inline(link: HTMLAnchorElement, isPressed = false): void {
  link.dataset['till'] = 'shown'
  const frame = open(link, {
    ready() {
      link.hidden = true
      if (isPressed) frame.element.focus()
    },
    size: (height) => (frame.element.style.height = `${height}px`),
    late() {
      frame.element.remove()
      link.hidden = false
      link.dataset['till'] = 'link'
      if (isPressed && link.isConnected) location.assign(link.href)
    },
  })
  Object.assign(frame.element.style, {
    display: 'block',
    border: '0',
    width: '100%',
    height: '0',
    colorScheme: 'light dark',
  })
  link.after(frame.element)
}

/** In a frame of another page the checkout would need that page's permission too, so the link opens in the whole window. */
const isFramed = self !== top
/** A seller who names another target wants the checkout there. */
const isHere = ({ target }: HTMLAnchorElement) => /^(_self|_top|_parent)?$/i.test(target)

const find = () => {
  if (isFramed) return
  // a page that the browser prepares before its visit loads no frame of another site
  if ('prerendering' in document && document.prerendering) return document.addEventListener('prerenderingchange', find)
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[data-till=inline]')) if (isOurs(link)) inline(link)
}

// An old browser, and a page whose origin has no name, follow the link.
if ('adoptedStyleSheets' in document && 'showModal' in HTMLDialogElement.prototype && self.origin !== 'null') {
  addEventListener('click', (event) => {
    const link = event.target instanceof Element && event.target.closest<HTMLAnchorElement>('a[data-till]')
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
    if (!link || !isPlain || event.defaultPrevented || !isOurs(link) || link.dataset['till'] === 'link') return
    // its frame in the page is about to come, or the link comes back
    if (link.dataset['till'] === 'shown') return event.preventDefault()
    if (!isHere(link)) return
    if (isFramed) return void (link.target = '_top')
    event.preventDefault()
    // the page has added the link after the script ran
    if (link.dataset['till'] === 'inline') inline(link, true)
    else overlay(link)
  })
  if (document.readyState === 'loading') addEventListener('DOMContentLoaded', find)
  else find()
}
