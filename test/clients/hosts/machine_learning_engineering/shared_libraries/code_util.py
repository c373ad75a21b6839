"""Where the sample runs scripts."""

ran = []


def run_python_code(code_text, run_cwd, py_filepath, exec_timeout):
    ran.append(code_text)
    return {"returncode": 0, "stdout": "Final Validation Performance: 0.5", "stderr": "", "execution_time": 0.1}


def evaluate_code(callback_context):
    result = run_python_code(
        code_text=callback_context.state["code"], run_cwd=".", py_filepath="init_code_1.py", exec_timeout=600
    )
    result["score"] = 0.5 if result["returncode"] == 0 else 1e9
    callback_context.state["result"] = result
