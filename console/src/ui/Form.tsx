import {
  Alert,
  Button,
  Group,
  Modal,
  MultiSelect,
  PasswordInput,
  Select,
  Stack,
  Switch,
  TagsInput,
  Textarea,
  TextInput,
} from '@mantine/core'
import { type FormEvent, type ReactNode, useState } from 'react'
import { explain } from '../api.ts'
import { useAppSearch } from './apps.ts'
import { WeekInput } from './WeekInput.tsx'
import type { Week } from './week.ts'

export interface Field {
  readonly name: string
  readonly label: string
  readonly kind?:
    | 'text'
    | 'email'
    | 'password'
    | 'datetime-local'
    | 'long'
    | 'number'
    | 'choice'
    | 'choices'
    | 'apps'
    | 'tags'
    | 'yes'
    | 'json'
    | 'week'
  readonly hint?: string
  readonly required?: boolean
  readonly min?: number
  readonly max?: number
  readonly options?: readonly (string | Option)[]
  /** Whether it has a meaning beside what else was put in: without it, always. */
  readonly isShown?: (values: Values) => boolean
}

interface Option {
  readonly value: string
  readonly label: string
  /** The heading below which it is offered, of a field of several choices. */
  readonly group?: string
}

/** Options that are drawn at once; the others are found by what is typed. */
const mostOptions = 200

/** What was put in, by the names of the fields. What is empty is absent. */
export type Values = Record<string, unknown>

/** A form in the page: fields as data. */
export function Form(props: {
  readonly fields: readonly Field[]
  readonly initial?: Values
  readonly label: string
  /** @throws what is then shown beside the button */
  readonly onSubmit: (values: Values) => Promise<unknown>
  readonly onCancel?: () => void
  readonly before?: ReactNode
  /** Only fields whose values differ from the first ones are given. */
  readonly changesOnly?: boolean
}) {
  const { fields, initial = {}, label, onSubmit, onCancel, before, changesOnly = false } = props
  const now = startOf(fields, initial)
  const [first, setFirst] = useState<Values>(now)
  const [values, setValues] = useState<Values>(now)
  if (JSON.stringify(now) !== JSON.stringify(first)) {
    // Somebody else has changed it meanwhile: what was not touched here is as it is now.
    setFirst(now)
    setValues(Object.fromEntries(fields.map(({ name }) => [name, (isSame(values, first, name) ? now : values)[name]])))
  }
  const shown = fields.filter(({ isShown }) => isShown?.(values) ?? true)
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setProblem(undefined)
    setBusy(true)
    try {
      await onSubmit(readValues(shown, values, changesOnly ? first : undefined))
    } catch (error) {
      setProblem(explain(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Stack component="form" onSubmit={submit} gap="sm">
      {before}
      {shown.map((field) => (
        <Input
          key={field.name}
          field={field}
          value={values[field.name]}
          onChange={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
        />
      ))}
      {problem !== undefined && (
        <Alert color="red" role="alert">
          {problem}
        </Alert>
      )}
      <Group justify="flex-end">
        {onCancel !== undefined && (
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
        )}
        <Button type="submit" loading={isBusy}>
          {label}
        </Button>
      </Group>
    </Stack>
  )
}

interface DialogProps {
  readonly title: string
  readonly fields: readonly Field[]
  readonly initial?: Values
  readonly changesOnly?: boolean
  readonly before?: ReactNode
  /** What the button says that sends it: `Save` without it. */
  readonly verb?: string
  readonly onSubmit: (values: Values) => Promise<unknown>
}

/** A form in a dialog, which closes once it is done. */
export function FormDialog(props: DialogProps & { readonly isOpen: boolean; readonly onClose: () => void }) {
  const { title, isOpen, onClose, onSubmit, verb = 'Save', ...form } = props
  return (
    <Modal opened={isOpen} onClose={onClose} title={title} size="lg">
      {isOpen && (
        <Form
          {...form}
          label={verb}
          onCancel={onClose}
          onSubmit={async (values) => {
            await onSubmit(values)
            onClose()
          }}
        />
      )}
    </Modal>
  )
}

/** A button that opens a form in a dialog. */
export function FormButton(
  props: DialogProps & { readonly button: string; readonly variant?: string; readonly size?: string },
) {
  const { button, variant = 'filled', size = 'sm', ...dialog } = props
  // A page can have hundreds of these buttons: a dialog is made for one once it is pressed.
  const [isOpen, setOpen] = useState<boolean>()
  const close = () => setOpen(false)
  return (
    <>
      <Button variant={variant} size={size} onClick={() => setOpen(true)}>
        {button}
      </Button>
      {isOpen !== undefined && <FormDialog {...dialog} isOpen={isOpen} onClose={close} />}
    </>
  )
}

function Input({ field, value, onChange }: { field: Field; value: unknown; onChange: (value: unknown) => void }) {
  const { label, kind = 'text', hint, required = false, min, max } = field
  const options: Option[] = (field.options ?? []).map((one) =>
    typeof one === 'string' ? { value: one, label: one } : one,
  )
  const common = { label, description: hint, required }
  // Browsers look at the text that is being typed, not at what was chosen.
  const several = { label, description: hint, withAsterisk: required }
  const text = value === undefined || value === null ? '' : String(value)
  const onText = (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value)
  switch (kind) {
    case 'long':
      return <Textarea {...common} autosize minRows={3} maxRows={12} value={text} onChange={onText} />
    case 'number':
      return (
        <TextInput
          {...common}
          type="number"
          step="any"
          {...(min !== undefined && { min })}
          {...(max !== undefined && { max })}
          value={text}
          onChange={({ currentTarget: { value } }) => onChange(value === '' ? undefined : Number(value))}
        />
      )
    case 'choice':
      return (
        <Select
          {...common}
          data={options}
          value={text === '' ? null : text}
          onChange={(next) => onChange(next ?? undefined)}
          clearable={!required}
          allowDeselect={!required}
          searchable={options.length > 8}
          limit={mostOptions}
        />
      )
    case 'choices':
      return (
        <MultiSelect
          {...several}
          data={groupsOf(options)}
          value={(value as string[] | undefined) ?? []}
          onChange={onChange}
          searchable
          limit={mostOptions}
        />
      )
    case 'apps':
      return <AppsInput {...several} value={(value as string[] | undefined) ?? []} onChange={onChange} />
    case 'tags':
      return (
        <TagsInput {...several} value={(value as string[] | undefined) ?? []} onChange={onChange} splitChars={[',']} />
      )
    case 'yes':
      return (
        <Switch
          label={label}
          description={hint}
          checked={value === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      )
    case 'json':
      return (
        // Looked at when the form is sent: a hint that comes while one leaves the field would move the button away.
        <Textarea
          {...common}
          autosize
          minRows={4}
          maxRows={16}
          ff="monospace"
          spellCheck={false}
          value={text}
          onChange={onText}
        />
      )
    case 'week':
      return <WeekInput label={label} hint={hint} value={value as Week} onChange={onChange} />
    case 'password':
      return <PasswordInput {...common} autoComplete="off" value={text} onChange={onText} />
    default:
      return (
        <TextInput
          {...common}
          type={kind}
          {...(max !== undefined && { maxLength: max })}
          value={text}
          onChange={onText}
        />
      )
  }
}

/** Apps that the operator has to do with. */
function AppsInput(props: {
  readonly label: string
  readonly description: string | undefined
  readonly withAsterisk: boolean
  readonly value: string[]
  readonly onChange: (value: string[]) => void
}) {
  const { typed, setTyped, appIds } = useAppSearch(props.value)
  return (
    <MultiSelect
      {...props}
      data={appIds}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      nothingFoundMessage="No app is found"
      limit={mostOptions}
    />
  )
}

/** Options below their headings; those without one come first. */
function groupsOf(options: readonly Option[]): (Option | { group: string; items: Option[] })[] {
  const groups = [...new Set(options.flatMap(({ group }) => group ?? []))]
  return [
    ...options.filter(({ group }) => group === undefined),
    ...groups.map((group) => ({
      group,
      items: options.filter((one) => one.group === group).map(({ value, label }) => ({ value, label })),
    })),
  ]
}

function startOf(fields: readonly Field[], initial: Values): Values {
  return Object.fromEntries(
    fields.map(({ name, kind }) => {
      const value = initial[name]
      return [name, kind === 'json' && value !== undefined ? JSON.stringify(value, null, 2) : value]
    }),
  )
}

function isSame(values: Values, others: Values, name: string): boolean {
  return JSON.stringify(values[name]) === JSON.stringify(others[name])
}

/** @throws Error that names the field whose value will not do */
function readValues(fields: readonly Field[], values: Values, first: Values | undefined): Values {
  const read = fields.flatMap(({ name, kind, label, required }) => {
    const value = values[name]
    if (first !== undefined && isSame(values, first, name)) return []
    if (required === true && Array.isArray(value) && value.length === 0)
      throw new Error(`${label}: choose at least one.`)
    const isEmpty = value === undefined || value === ''
    // What was there and is emptied is sent as empty; what never was is left out.
    if (isEmpty && first === undefined) return []
    if (isEmpty && kind === 'json') throw new Error(`${label}: it cannot be left empty. {} or [] stand for nothing.`)
    if (isEmpty) return [[name, kind === 'number' ? null : '']]
    return [[name, kind === 'json' ? readJson(label, String(value)) : value]]
  })
  return Object.fromEntries(read)
}

/** @throws Error that names the field */
function readJson(label: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`${label}: this is not JSON. ${(error as Error).message}`)
  }
}
