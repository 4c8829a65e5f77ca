import { Menu } from '@mantine/core'
import { type ReactNode, type Ref, useEffect, useRef, useState } from 'react'

interface RowMenuProps {
  readonly label: string
  /** What the button is called for those who do not see the row. */
  readonly name: string
  readonly width: number
  readonly children: ReactNode
}

/** What can be done with a row. A page can have hundreds of them: a menu is made once its button is pressed. */
export function RowMenu(props: RowMenuProps) {
  const [isMade, setMade] = useState(false)
  if (isMade) return <MadeMenu {...props} />
  return <RowButton {...props} aria-haspopup="menu" aria-expanded={false} onClick={() => setMade(true)} />
}

function MadeMenu(props: RowMenuProps) {
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  // It has taken the place of the button that was pressed, to which the focus comes back once the menu is closed.
  useEffect(() => {
    button.current?.focus()
    setOpen(true)
  }, [])
  return (
    <Menu opened={isOpen} onChange={setOpen} width={props.width} position="bottom-end">
      <Menu.Target>
        <RowButton {...props} ref={button} />
      </Menu.Target>
      <Menu.Dropdown>{props.children}</Menu.Dropdown>
    </Menu>
  )
}

function RowButton({
  label,
  name,
  width: _,
  children: __,
  ...others
}: RowMenuProps & { readonly ref?: Ref<HTMLButtonElement>; readonly onClick?: () => void }) {
  return (
    <button type="button" className="row-button" aria-label={name} {...others}>
      {label}
    </button>
  )
}
