import {
  Alert,
  Button,
  Center,
  Divider,
  Loader,
  Paper,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { admin, codeOf, explain } from '../api.ts'
import { finishReturn, goToProvider, type Return } from './provider.ts'

const leastPassword = 12

/** Signs in, by the code of an authenticator app too where the account asks for one. */
export function SignIn({ onDone }: { readonly onDone: () => void }) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const [asksForCode, setAsksForCode] = useState(false)
  const attempt = useAttempt(onDone, (error) => {
    if (codeOf(error) !== 'ERR_OPERATOR_CODE_REQUIRED') return false
    setAsksForCode(true)
    return true
  })
  const submit = () => admin('POST /session', { email: email.trim(), password, ...(asksForCode && { code }) })
  return (
    <Door title="Sign in" attempt={attempt} submit={submit} label="Sign in" beside={<ByProvider />}>
      <Email value={email} onChange={setEmail} />
      <PasswordInput
        label="Password"
        autoComplete="current-password"
        required
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
      />
      {asksForCode && (
        <TextInput
          label="Code of the authenticator app"
          inputMode="numeric"
          autoComplete="one-time-code"
          pattern="[0-9]{6}"
          required
          autoFocus
          value={code}
          onChange={(event) => setCode(event.currentTarget.value.trim())}
        />
      )}
    </Door>
  )
}

/** Makes the account of the first owner. */
export function SetUp({ token, onDone }: { readonly token: string; readonly onDone: () => void }) {
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const attempt = useAttempt(onDone)
  const submit = () => admin('POST /setup', { token, email: email.trim(), name: name.trim(), password })
  return (
    <Door title="Become the owner" attempt={attempt} submit={submit} label="Create the account">
      <Text size="sm" c="dimmed">
        Nobody looks after this service yet. This address works once; the account it makes may do everything.
      </Text>
      <Email value={email} onChange={setEmail} />
      <Name value={name} onChange={setName} />
      <NewPassword value={password} onChange={setPassword} />
    </Door>
  )
}

/** Makes the account that somebody was invited to. */
export function Invitation({ token, onDone }: { readonly token: string; readonly onDone: () => void }) {
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const attempt = useAttempt(onDone)
  const submit = () => admin('POST /invitations/accept', { token, name: name.trim(), password })
  return (
    <Door title="You are invited" attempt={attempt} submit={submit} label="Create the account" beside={<ByProvider />}>
      <Text size="sm" c="dimmed">
        You were invited to look after this chat service. Your e-mail address is the one of the invitation.
      </Text>
      <Name value={name} onChange={setName} />
      <NewPassword value={password} onChange={setPassword} />
    </Door>
  )
}

/** A button for whoever has an account at the provider, where there is one. */
function ByProvider() {
  const provider = useQuery({ queryKey: ['sign-in-provider'], queryFn: () => admin('GET /sign-in/provider') })
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const name = provider.data?.name
  if (name === undefined) return null
  const go = async () => {
    setBusy(true)
    setProblem(undefined)
    try {
      await goToProvider()
    } catch (error) {
      setProblem(explain(error))
      setBusy(false)
    }
  }
  return (
    <>
      <Divider label="or" />
      {problem !== undefined && (
        <Alert color="red" role="alert">
          {problem}
        </Alert>
      )}
      <Button variant="default" loading={isBusy} onClick={() => void go()}>
        Sign in with {name}
      </Button>
    </>
  )
}

/** Finishes a sign-in that went by the page of a provider. */
export function BackFromProvider({ back, onDone }: { readonly back: Return; readonly onDone: () => void }) {
  // Once, however often the page is drawn: what the provider gave is good once.
  const finished = useQuery({
    queryKey: ['back-from-provider'],
    queryFn: async () => {
      if ('problem' in back) throw new Error(back.problem)
      await finishReturn(back)
      onDone()
      return true
    },
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  return (
    <Center mih="100%" p="md" component="main">
      {finished.error === null ? (
        <Loader aria-label="Signing in" />
      ) : (
        <Paper withBorder p="lg" w="100%" maw={400}>
          <Stack>
            <Title order={1} size="h3">
              Sign in
            </Title>
            <Alert color="red" role="alert">
              {explain(finished.error)}
            </Alert>
            <Button onClick={onDone}>Go on</Button>
          </Stack>
        </Paper>
      )}
    </Center>
  )
}

interface Attempt {
  readonly isBusy: boolean
  readonly problem: string | undefined
  run(submit: () => Promise<unknown>): Promise<void>
}

/** @param isExpected whether the page itself answers this error */
function useAttempt(onDone: () => void, isExpected: (error: unknown) => boolean = () => false): Attempt {
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  return {
    isBusy,
    problem,
    async run(submit) {
      setBusy(true)
      setProblem(undefined)
      try {
        await submit()
        onDone()
      } catch (error) {
        if (!isExpected(error)) setProblem(explain(error))
      } finally {
        setBusy(false)
      }
    },
  }
}

function Door(props: {
  readonly title: string
  readonly label: string
  readonly attempt: Attempt
  readonly submit: () => Promise<unknown>
  readonly children: ReactNode
  /** Another way in. */
  readonly beside?: ReactNode
}) {
  const { title, label, attempt, submit, children, beside } = props
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    void attempt.run(submit)
  }
  return (
    <Center mih="100%" p="md" component="main">
      <Paper withBorder p="lg" w="100%" maw={400} component="form" onSubmit={onSubmit}>
        <Stack>
          <div>
            <Text size="sm" c="dimmed">
              Parley
            </Text>
            <Title order={1} size="h3">
              {title}
            </Title>
          </div>
          {children}
          {attempt.problem !== undefined && (
            <Alert color="red" role="alert">
              {attempt.problem}
            </Alert>
          )}
          <Button type="submit" loading={attempt.isBusy}>
            {label}
          </Button>
          {beside}
        </Stack>
      </Paper>
    </Center>
  )
}

interface TextProps {
  readonly value: string
  readonly onChange: (value: string) => void
}

function Email({ value, onChange }: TextProps) {
  return (
    <TextInput
      label="E-mail address"
      type="email"
      autoComplete="username"
      required
      autoFocus
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

function Name({ value, onChange }: TextProps) {
  return (
    <TextInput
      label="Your name"
      autoComplete="name"
      required
      maxLength={100}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

function NewPassword({ value, onChange }: TextProps) {
  return (
    <PasswordInput
      label="Password"
      description={`At least ${leastPassword} characters`}
      autoComplete="new-password"
      required
      minLength={leastPassword}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
