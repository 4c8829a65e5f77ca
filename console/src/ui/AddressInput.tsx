import { TextInput, type TextInputProps } from '@mantine/core'
import { useState } from 'react'
import { useAddress } from './address.ts'

const asItIs = (text: string) => text

/**
 * A field whose text stands in the address, letter by letter. Where the address changes otherwise, as by the link of the menu to the page that
 * one is on, the field has what it says.
 */
export function AddressInput(
  props: Omit<TextInputProps, 'value' | 'defaultValue' | 'onChange'> & {
    /** Of what is typed, in the address. */
    readonly name: string
    /** What the address keeps of what is typed; '' for nothing. */
    readonly keptOf?: (typed: string) => string
    /** What is typed for what the address keeps. */
    readonly typedOf?: (kept: string) => string
    readonly onTyped?: () => void
  },
) {
  const { name, keptOf = asItIs, typedOf = asItIs, onTyped, ...input } = props
  const [address, change] = useAddress()
  const kept = address[name] ?? ''
  const [known, setKnown] = useState(kept)
  const [typed, setTyped] = useState(typedOf(kept))
  /** What was typed and has not come back by the address yet, which is some letters behind. */
  const [sent, setSent] = useState<readonly string[]>([])
  if (kept !== known) {
    const place = sent.indexOf(kept)
    setKnown(kept)
    setSent(place < 0 ? [] : sent.slice(place + 1))
    if (place < 0) setTyped(typedOf(kept))
  }
  return (
    <TextInput
      {...input}
      value={typed}
      onChange={(event) => {
        const next = event.currentTarget.value
        const nextKept = keptOf(next)
        setTyped(next)
        if (nextKept !== (sent.at(-1) ?? kept)) setSent([...sent, nextKept])
        change({ [name]: nextKept })
        onTyped?.()
      }}
    />
  )
}
