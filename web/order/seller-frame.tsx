import { type ComponentChild, render } from 'preact'
import { Mark, type Seller } from '../ui/brand.tsx'
import { saying, wordsOf } from '../ui/language.ts'

/** Gives the page the seller's head and title, and names Till below, as the payment page does. Returns a function that undoes it. */
export function frameBy(seller: Seller, product = ''): () => void {
  const { title } = document
  const head = (
    <>
      <Mark seller={seller} /> <bdi>{seller.name}</bdi>
    </>
  )
  const undo = [
    replace('.bar .mark', 'span', head),
    replace('.foot > p', 'p', saying(wordsOf('ui').checkoutBy, { till: <a href="/">Till</a> })),
  ]
  document.body.classList.add('of-seller')
  document.title = [product, seller.name].filter(Boolean).join(' · ')
  return () => {
    document.title = title
    for (const one of undo) one()
    document.body.classList.remove('of-seller')
  }
}

function replace(selector: string, tag: string, content: ComponentChild): () => void {
  const ours = document.querySelector(selector)!
  const place = document.createElement(tag)
  place.className = ours.className
  render(content, place)
  ours.replaceWith(place)
  return () => place.replaceWith(ours)
}
