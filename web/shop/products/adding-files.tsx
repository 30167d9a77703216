import { useRef, useState } from 'preact/hooks'
import { DOUBLE_PRESS_MS } from '../../ui/double-press.ts'
import type { Product } from '../api.ts'
import { freeName, isNameOf } from '../uploads/names.ts'
import type { Unfinished } from '../uploads/unfinished.ts'
import { addFile, uploads } from '../uploads/uploads.ts'
import { SameName } from './same-name.tsx'

/** Begins uploads. Asks first about each file whose name the product already has, one after the other. */
export function useAdding(product: Pick<Product, 'id' | 'files'>, unfinished: Unfinished[]) {
  const [sameNamed, setSameNamed] = useState<File[]>([])
  const namesTaken = () => [
    ...product.files.map(({ name }) => name),
    ...uploads.get().items.flatMap((one) => (one.productId === product.id && one.stage !== 'done' ? [one.name] : [])),
  ]
  const twinOf = ({ name }: File) => product.files.find((file) => file.name.toLowerCase() === name.toLowerCase())
  const add = (files: Iterable<File>, replaces?: string) => {
    const doubtful: File[] = []
    for (const file of files) {
      const before = unfinished.find(({ name, size }) => size === file.size && isNameOf(name, file.name))
      if (replaces) addFile(product.id, file, file.name, replaces)
      // The upload goes on with its name, and replaces the file that it was meant to replace.
      else if (before) addFile(product.id, file, before.name, before.replaces)
      else if (twinOf(file)) doubtful.push(file)
      else addFile(product.id, file, freeName(file.name, namesTaken()))
    }
    setSameNamed((waiting) => [...waiting, ...doubtful])
  }
  const [first] = sameNamed
  const decidedAtRef = useRef(0)
  const decide = (upload?: () => void) => {
    if (Date.now() - decidedAtRef.current < DOUBLE_PRESS_MS) return
    decidedAtRef.current = Date.now()
    upload?.()
    setSameNamed((waiting) => waiting.slice(1))
  }
  const question = first && (
    <SameName
      key={`${first.name} ${sameNamed.length}`}
      name={first.name}
      other={freeName(first.name, namesTaken())}
      onReplace={() => decide(() => addFile(product.id, first, first.name, twinOf(first)?.id))}
      onKeepBoth={() => decide(() => addFile(product.id, first, freeName(first.name, namesTaken())))}
      onClose={() => decide()}
    />
  )
  return { add, question }
}

/** The browser's own dialog for files: several new ones, or one that replaces another. */
export function usePicker(onFiles: (files: Iterable<File>, replaces?: string) => void) {
  const inputRef = useRef<HTMLInputElement>(null)
  const replacesRef = useRef<string | undefined>(undefined)
  const pick = (replaces?: string) => {
    replacesRef.current = replaces
    inputRef.current!.multiple = replaces === undefined
    inputRef.current!.click()
  }
  const picker = (
    <input
      ref={inputRef}
      type="file"
      multiple
      hidden
      aria-label="Files to upload"
      onChange={(event) => {
        onFiles(event.currentTarget.files ?? [], replacesRef.current)
        // Lets the seller choose the same file once more.
        event.currentTarget.value = ''
      }}
    />
  )
  return { picker, pick }
}
